"""A daemon thread for driver calls. A call that never returns does not keep the process from exiting."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class DriverThread:
    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run_jobs, name=name, daemon=True)

    def submit(self, job: Callable[[], T]) -> Future[T]:
        if not self._thread.ident:
            self._thread.start()
        promised: Future[T] = Future()
        self._jobs.put((promised, job))
        return promised

    def stop(self) -> None:
        """Stop after the jobs already submitted."""
        self._jobs.put(None)

    def _run_jobs(self) -> None:
        while work := self._jobs.get():
            promised, job = work
            try:
                promised.set_result(job())
            except Exception as exc:  # noqa: BLE001  whoever waits for it decides
                promised.set_exception(exc)
