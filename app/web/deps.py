"""Dependencies of route handlers, as Annotated aliases."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

from anyio import CancelScope
from fastapi import Depends, Query, Request
from fastapi.concurrency import run_in_threadpool
from sqlmodel import Session

from app.errors import Rejected
from app.runs.open_decision_reader import DecisionReader
from app.runtime.runtime import Runtime
from app.store.session_shared_within_request import share_session_within_request
from app.web.stream.fold_cache import RolloutStateCache, RunStateCache
from app.web.stream.stream_registry import StreamRegistry


def create_state_dependency(name: str) -> Callable[[Request], Awaitable[Any]]:
    async def read_state_value(request: Request) -> Any:
        return getattr(request.app.state, name)

    return read_state_value


TheRuntime = Annotated[Runtime, Depends(create_state_dependency("runtime"))]
TheStreams = Annotated[StreamRegistry, Depends(create_state_dependency("streams"))]
TheFolds = Annotated[RunStateCache, Depends(create_state_dependency("folds"))]
TheDecisions = Annotated[DecisionReader, Depends(create_state_dependency("decisions"))]
TheRolloutFolds = Annotated[RolloutStateCache, Depends(create_state_dependency("rollouts"))]


async def _open_session_and_commit(request: Request) -> AsyncIterator[Session]:
    """Yield a session from the pool reserved for requests, so that a run's worker never waits for viewers."""
    async with request.app.state.readers:  # waiting here holds neither a thread nor a connection
        session = Session(request.app.state.reading)
        try:
            with share_session_within_request(session):
                yield session
            if not getattr(request.state, "refused", False):
                await run_in_threadpool(session.commit)
        finally:
            with CancelScope(shield=True):
                await run_in_threadpool(session.close)


def require_unshared_database(runtime: Runtime) -> None:
    """Raise Rejected if other nodes share the database: each of them would keep its own line-up."""
    if runtime.leases:
        raise Rejected("", "Several nodes share this database: start each with --engine or --lineup instead.", "busy")


MOMENT = frozenset(("at", "t", "w"))
"""Query parameters that name a past moment of a run."""


async def _open_session_unless_past(request: Request) -> AsyncIterator[Session | None]:
    """Yield a session as for any request; None if the request is for a past moment, which has a pool of its own."""
    if MOMENT & request.query_params.keys():
        yield None
        return
    async with asynccontextmanager(_open_session_and_commit)(request) as session:
        yield session


Words = Annotated[str, Query(max_length=200)]
TheSession = Annotated[Session, Depends(_open_session_and_commit, scope="function")]
"""Committed before the response is sent, so the next request sees the change. Nothing is committed on an error."""
TheSessionForNow = Annotated[Session | None, Depends(_open_session_unless_past, scope="function")]
