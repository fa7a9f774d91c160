"""What routes take, by Annotated alias."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends, Request
from sqlmodel import Session

from app.stream.folds import Folds
from app.stream.streams import Streams
from app.worker import Worker


def _worker(request: Request) -> Worker:
    worker: Worker = request.app.state.worker
    return worker


TheWorker = Annotated[Worker, Depends(_worker)]


def _streams(request: Request) -> Streams:
    streams: Streams = request.app.state.streams
    return streams


TheStreams = Annotated[Streams, Depends(_streams)]


def _folds(request: Request) -> Folds:
    folds: Folds = request.app.state.folds
    return folds


TheFolds = Annotated[Folds, Depends(_folds)]


def _session(worker: TheWorker) -> Iterator[Session]:
    with Session(worker.database) as session, session.begin():
        yield session


TheSession = Annotated[Session, Depends(_session, scope="function")]
"""Committed before the answer leaves: who reads it and comes back finds what it says."""
