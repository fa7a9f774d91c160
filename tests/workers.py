"""The tests' workers, forked from one that has read in all tests and what they need: seconds of work, done once.

A worker is what execnet would have started: an interpreter that is told through its stdin what to do. Before that it
forks the one that its Temper processes will be forked from (tests/forkserver.py), which needs the same imports.
"""

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from execnet.gateway_io import popen_bootstrapline

from tests import forkserver

QUIETLY = ("--numprocesses=0", "--collect-only", "-qqq", "--capture=no")


def forked_from_one(asked: pytest.Config.InvocationParams) -> None:
    """Whatever execnet starts from now on."""
    origin = forkserver.started("tests.workers", str(asked.dir), *asked.args)

    def execute_child(process, *args):
        told = forkserver.how_told(args)
        if told["args"][-1] == popen_bootstrapline:
            forkserver.fork(process, origin, "worker", [], told)
        else:
            forkserver.USUAL(process, *args)

    subprocess.Popen._execute_child = execute_child


def read_in(folder: str, words: list[str]) -> None:
    """All tests that are asked for, as pytest rewrites them. Who fails here fails and tells it in each worker, too."""
    path, here = [*sys.path], Path.cwd()
    os.chdir(folder)
    with suppress(Exception):
        pytest.main([*words, *QUIETLY])
    os.chdir(here)
    sys.path[:] = path


def main(line: str, folder: str, *words: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    forkserver.import_all()
    read_in(folder, list(words))
    forkserver.ready_to_be_forked()
    forkserver.children_of(socket.socket(fileno=int(line)))
    forkserver.server_in_waiting()
    sys.argv = ["-c"]
    exec(eval(sys.stdin.readline()), {"__name__": "__main__"})
    forkserver.end(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
