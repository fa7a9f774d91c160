"""Work in a child process that may die at any step, and that need not be root."""

import concurrent.futures.thread  # noqa: F401 (asyncio imports it late, and nobody may be unable to read it then)
import os
import pickle
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

KILLED = 77
NOBODY = 65534


def in_child(work: Callable[[], T], *, as_nobody: bool = False) -> tuple[int, T | None]:
    """The exit status, and what `work` returned; nothing of it when the child died before its end."""
    sys.stdout.flush()
    inlet, outlet = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(inlet)
        os._exit(_child(work, outlet, as_nobody))
    os.close(outlet)
    with os.fdopen(inlet, "rb") as answer:
        said = answer.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status, pickle.loads(said) if said else None


def _child(work: Callable[[], object], outlet: int, as_nobody: bool) -> int:
    try:
        if as_nobody and os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        with os.fdopen(outlet, "wb") as answer:
            answer.write(pickle.dumps(work()))
    except BaseException:  # noqa: BLE001 (told, and the exit status says it)
        traceback.print_exc()
        return 1
    return 0


class Killer:
    """Ends its process at the n-th step, as kill -9 would: nothing is cleaned up, nothing flushed."""

    def __init__(self, at: int) -> None:
        self._left = at

    def __call__(self, _step: str) -> None:
        self._left -= 1
        if self._left == 0:
            os._exit(KILLED)


def give_to_nobody(folder: str | os.PathLike[str]) -> None:
    """So that a process without root's rights owns the host's files, as an operator's would."""
    if os.geteuid() != 0:
        return
    os.chown(folder, NOBODY, NOBODY)
    for at, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(Path(at, name), NOBODY, NOBODY, follow_symlinks=False)
