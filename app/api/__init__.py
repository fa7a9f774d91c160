"""JSON over HTTP."""

from fastapi import FastAPI

from app.api import health


def install(application: FastAPI) -> None:
    application.include_router(health.router)
