"""The web application over a worker that the caller has opened and will close."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from app import __version__, api, pages
from app.access import sign_in, sign_in_oidc
from app.access.doors import Doors
from app.access.gate import Gate
from app.access.herald import Herald
from app.access.oidc import Oidc, Provider
from app.access.throttle import Throttle
from app.chores import chores
from app.stream.streams import Streams
from app.worker import Worker


def create_app(worker: Worker) -> FastAPI:
    herald = Herald(worker.settings.audit_syslog)

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        async with chores(worker):
            yield
        herald.close()

    application = FastAPI(title="Temper", version=__version__, docs_url=None, redoc_url=None, lifespan=living)
    application.state.worker = worker
    application.state.streams = Streams(worker.bus, worker.store)
    api.install(application)
    pages.install(application)
    application.include_router(sign_in.router)
    application.include_router(sign_in_oidc.router)
    application.state.oidc = _oidc(worker)
    application.state.throttle = Throttle()
    doors = Doors(worker.database, demo=worker.settings.demo)
    application.add_middleware(Gate, doors=doors, database=worker.database, herald=herald)
    return application


def _oidc(worker: Worker) -> Oidc | None:
    settings = worker.settings
    if not settings.oidc:
        return None
    provider = Provider(
        settings.oidc, settings.oidc_client, settings.oidc_secret_from, settings.oidc_claim, settings.oidc_right
    )
    return Oidc(provider, worker.http)
