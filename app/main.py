"""The web application over a worker that the caller has opened and will close."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI

from app import __version__
from app.background.tasks import chores
from app.runtime.runtime import Worker
from app.store.db import apart
from app.web import api, pages
from app.web.access import sign_in, sign_in_oidc
from app.web.access.audit_syslog import Herald
from app.web.access.credentials import AT_ONCE, Doors
from app.web.access.desk import CONNECTIONS, Desk
from app.web.access.gate import Gate
from app.web.access.guard import guard
from app.web.access.ledger import Ledger
from app.web.access.oidc import Oidc, Provider
from app.web.access.vigil import Vigil
from app.web.api import nowhere
from app.web.stream.streams import Streams

READERS = 12
"""Requests that are in the database at a time, each with one connection at most; others wait their turn."""


def create_app(worker: Worker) -> FastAPI:
    reading, own = apart(worker.database, READERS), apart(worker.database, AT_ONCE + CONNECTIONS + 1)
    herald = Herald(worker.settings.audit_syslog)
    desk = Desk(own)
    doors, ledger = Doors(own, demo=worker.settings.demo), Ledger(own, herald)
    vigil = Vigil(doors)

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for closing in (own.dispose, reading.dispose, herald.close, doors.close, desk.close):
                stack.callback(closing)
            for one in (ledger, vigil):
                one.start()
                stack.push_async_callback(one.close)
            async with chores(worker):
                yield

    application = FastAPI(
        title="Temper", version=__version__, docs_url=None, redoc_url=None, openapi_url=None, lifespan=living
    )
    application.state.worker, application.state.reading = worker, reading
    application.state.readers = asyncio.Semaphore(READERS)
    application.state.streams = Streams(worker.bus, worker.store)
    api.install(application)
    pages.install(application)
    application.router.routes.extend([*sign_in.router.routes, *sign_in_oidc.router.routes])
    nowhere.install(application)
    guard(application.router.routes)
    application.state.desk = desk
    application.state.oidc = _oidc(worker)
    application.add_middleware(Gate, doors=doors, ledger=ledger, vigil=vigil)
    return application


def _oidc(worker: Worker) -> Oidc | None:
    settings = worker.settings
    if not settings.oidc:
        return None
    provider = Provider(
        settings.oidc, settings.oidc_client, settings.oidc_secret_from, settings.oidc_claim, settings.oidc_right
    )
    return Oidc(provider, worker.http)
