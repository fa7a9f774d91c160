"""The runs that this process has folded, for the routes that ask how far one is."""

from typing import Annotated

from fastapi import Depends, Request

from app.stream.folds import Folds


def _folds(request: Request) -> Folds:
    folds: Folds = request.app.state.folds
    return folds


TheFolds = Annotated[Folds, Depends(_folds)]
