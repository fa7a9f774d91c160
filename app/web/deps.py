"""Dependencies of route handlers, as Annotated aliases."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any

from anyio import CancelScope
from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from sqlmodel import Session

from app.runtime.runtime import Runtime
from app.store.held import held
from app.web.stream.folds import Folds
from app.web.stream.rollout_folds import RolloutFolds
from app.web.stream.streams import Streams


def _of_process(name: str) -> Callable[[Request], Awaitable[Any]]:
    async def found(request: Request) -> Any:
        return getattr(request.app.state, name)

    return found


TheRuntime = Annotated[Runtime, Depends(_of_process("runtime"))]
TheStreams = Annotated[Streams, Depends(_of_process("streams"))]
TheFolds = Annotated[Folds, Depends(_of_process("folds"))]
TheRolloutFolds = Annotated[RolloutFolds, Depends(_of_process("rollouts"))]


async def _session(request: Request) -> AsyncIterator[Session]:
    """Yield a session from the pool reserved for requests, so that a run's worker never waits for viewers."""
    async with request.app.state.readers:  # waiting here holds neither a thread nor a connection
        session = Session(request.app.state.reading)
        try:
            with held(session):
                yield session
            if not getattr(request.state, "refused", False):
                await run_in_threadpool(session.commit)
        finally:
            with CancelScope(shield=True):
                await run_in_threadpool(session.close)


TheSession = Annotated[Session, Depends(_session, scope="function")]
"""Committed before the response is sent, so the next request sees the change. Nothing is committed on an error."""
