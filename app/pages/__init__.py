"""HTML over HTTP."""

from fastapi import FastAPI


def install(application: FastAPI) -> None:
    pass
