"""What routes take, by Annotated alias."""

from collections.abc import AsyncIterator
from typing import Annotated

from anyio import CancelScope
from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from sqlmodel import Session

from app.runtime.runtime import Runtime
from app.store.held import held
from app.web.stream.folds import Folds
from app.web.stream.rollout_folds import RolloutFolds
from app.web.stream.streams import Streams


async def _worker(request: Request) -> Runtime:
    runtime: Runtime = request.app.state.runtime
    return runtime


TheRuntime = Annotated[Runtime, Depends(_worker)]


async def _streams(request: Request) -> Streams:
    streams: Streams = request.app.state.streams
    return streams


TheStreams = Annotated[Streams, Depends(_streams)]


async def _folds(request: Request) -> Folds:
    folds: Folds = request.app.state.folds
    return folds


TheFolds = Annotated[Folds, Depends(_folds)]


async def _rollout_folds(request: Request) -> RolloutFolds:
    folds: RolloutFolds = request.app.state.rollouts
    return folds


TheRolloutFolds = Annotated[RolloutFolds, Depends(_rollout_folds)]


async def _session(request: Request) -> AsyncIterator[Session]:
    """Of the connections that are kept for requests: a run's worker does not wait for its viewers."""
    async with request.app.state.readers:  # who waits, waits here, and neither holds a thread nor a connection
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
"""Committed before the answer leaves: who reads it and comes back finds what it says. Of a refusal nothing stays."""
