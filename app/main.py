"""Create the web application. The caller opens and closes the runtime."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from fastapi.middleware.gzip import GZipMiddleware

from app import __version__
from app.background.tasks_of_process import open_background_tasks
from app.people.identity_provider_groups import GroupRights
from app.runtime.runtime import Runtime
from app.store.db import open_separate_engine
from app.web import api, pages
from app.web.access.access_rechecks import AccessRechecks
from app.web.access.action_and_refusal_audit import AccessLedger, AuditSyslog
from app.web.access.authenticator import AT_ONCE, Authenticator
from app.web.access.cors import ApiCors, parse_origins
from app.web.access.oidc import OidcClient, OidcProvider
from app.web.access.password_checker import CONNECTIONS, PasswordChecker
from app.web.access.request_gate import Gate
from app.web.access.right_check import guard_routes
from app.web.api import unmatched_request_routes
from app.web.conditional_responses import ConditionalResponses
from app.web.pages.mission.past_view_thread_and_cache import PastViewThread
from app.web.routes import ROUTES
from app.web.stream.stream_registry import StreamRegistry

READERS = 12
"""Maximum number of requests that hold a database connection at the same time; the others wait. Past moments have one
more."""


def create_app(runtime: Runtime) -> FastAPI:
    allowed = parse_origins(runtime.settings.cors_origins)
    reading = open_separate_engine(runtime.database, READERS + 1)
    own = open_separate_engine(runtime.database, AT_ONCE + CONNECTIONS + 1)
    syslog = AuditSyslog(runtime.settings.audit_syslog)
    passwords = PasswordChecker(own)
    credentials = Authenticator(own, demo=runtime.settings.is_sign_in_off, clock=runtime.clock.now)
    ledger = AccessLedger(own, syslog)
    rechecks = AccessRechecks(credentials)

    @asynccontextmanager
    async def run_lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for closing in (own.dispose, reading.dispose):
                stack.callback(closing)
            for used in (syslog, credentials, passwords, moments):
                stack.callback(used.close)
            for one in (ledger, rechecks, application.state.health, application.state.inbox_watch):
                one.start()
                stack.push_async_callback(one.close)
            async with open_background_tasks(runtime):
                yield

    application = FastAPI(
        title="Temper", version=__version__, docs_url=None, redoc_url=None, openapi_url=None, lifespan=run_lifespan
    )
    application.state.runtime, application.state.reading = runtime, reading
    application.state.readers = asyncio.Semaphore(READERS)
    application.state.streams = StreamRegistry(runtime.bus, runtime.store)
    moments = application.state.moments = PastViewThread(reading)
    api.install_api_state(application)
    pages.install_page_services(application)
    application.router.routes.extend(ROUTES)
    unmatched_request_routes.install_fallbacks(application)
    guard_routes(application.router.routes)
    application.state.passwords = passwords
    application.state.oidc, application.state.ledger = _create_oidc(runtime), ledger
    # The middleware added last sees a request first.
    application.add_middleware(ConditionalResponses)
    application.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)
    application.add_middleware(Gate, credentials=credentials, ledger=ledger, rechecks=rechecks, allowed=allowed)
    if allowed:
        application.add_middleware(ApiCors, allowed=allowed)
    return application


def _create_oidc(runtime: Runtime) -> OidcClient | None:
    settings = runtime.settings
    if not settings.oidc:
        return None
    provider = OidcProvider(
        settings.oidc,
        settings.oidc_client,
        settings.oidc_secret_from,
        settings.oidc_claim,
        settings.oidc_right,
        GroupRights(settings.oidc_groups_claim, settings.oidc_groups) if settings.oidc_groups else None,
        settings.oidc_scope,
    )
    return OidcClient(provider, runtime.http)
