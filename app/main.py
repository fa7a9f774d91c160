"""The web application over a worker that the caller has opened and will close."""

from fastapi import FastAPI

from app import __version__, api, pages
from app.stream.streams import Streams
from app.worker import Worker


def create_app(worker: Worker) -> FastAPI:
    application = FastAPI(title="Temper", version=__version__, docs_url=None, redoc_url=None)
    application.state.worker = worker
    application.state.streams = Streams(worker.bus, worker.store)
    api.install(application)
    pages.install(application)
    return application
