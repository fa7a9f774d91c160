"""Create the web application. The caller opens and closes the runtime."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from fastapi.middleware.gzip import GZipMiddleware

from app import __version__
from app.background.tasks import background_tasks
from app.people.groups import GroupRights
from app.runtime.runtime import Runtime
from app.store.db import apart
from app.web import api, pages
from app.web.access.access_ledger import AccessLedger
from app.web.access.audit_syslog import AuditSyslog
from app.web.access.cors import Cors, origins
from app.web.access.credentials import AT_ONCE, Credentials
from app.web.access.gate import Gate
from app.web.access.guard import guard
from app.web.access.oidc import Oidc, Provider
from app.web.access.password_check import CONNECTIONS, PasswordCheck
from app.web.access.rechecks import Rechecks
from app.web.api import nowhere
from app.web.conditional import Conditional
from app.web.routes import ROUTES
from app.web.stream.streams import Streams

READERS = 12
"""Maximum number of requests that hold a database connection at the same time; the others wait."""


def create_app(runtime: Runtime) -> FastAPI:
    allowed = origins(runtime.settings.cors_origins)
    reading, own = apart(runtime.database, READERS), apart(runtime.database, AT_ONCE + CONNECTIONS + 1)
    syslog = AuditSyslog(runtime.settings.audit_syslog)
    passwords = PasswordCheck(own)
    credentials, ledger = Credentials(own, demo=runtime.settings.demo), AccessLedger(own, syslog)
    rechecks = Rechecks(credentials)

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for closing in (own.dispose, reading.dispose, syslog.close, credentials.close, passwords.close):
                stack.callback(closing)
            for one in (ledger, rechecks):
                one.start()
                stack.push_async_callback(one.close)
            async with background_tasks(runtime):
                yield

    application = FastAPI(
        title="Temper", version=__version__, docs_url=None, redoc_url=None, openapi_url=None, lifespan=living
    )
    application.state.runtime, application.state.reading = runtime, reading
    application.state.readers = asyncio.Semaphore(READERS)
    application.state.streams = Streams(runtime.bus, runtime.store)
    api.install(application)
    pages.install(application)
    application.router.routes.extend(ROUTES)
    nowhere.install(application)
    guard(application.router.routes)
    application.state.passwords = passwords
    application.state.oidc, application.state.ledger = _oidc(runtime), ledger
    # The middleware added last sees a request first.
    application.add_middleware(Conditional)
    application.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)
    application.add_middleware(Gate, credentials=credentials, ledger=ledger, rechecks=rechecks, allowed=allowed)
    if allowed:
        application.add_middleware(Cors, allowed=allowed)
    return application


def _oidc(runtime: Runtime) -> Oidc | None:
    settings = runtime.settings
    if not settings.oidc:
        return None
    provider = Provider(
        settings.oidc,
        settings.oidc_client,
        settings.oidc_secret_from,
        settings.oidc_claim,
        settings.oidc_right,
        GroupRights(settings.oidc_groups_claim, settings.oidc_groups) if settings.oidc_groups else None,
        settings.oidc_scope,
    )
    return Oidc(provider, runtime.http)
