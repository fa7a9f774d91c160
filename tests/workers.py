"""The tests' workers, forked from one process that has imported what all of them need: seconds of work, done once.

A worker is what execnet would have started: an interpreter that is told through its stdin what to do. Before that it
forks the one that its Temper processes will be forked from (tests/forkserver.py), which needs the same imports.
"""

import importlib
import signal
import socket
import subprocess
import sys

from execnet.gateway_io import popen_bootstrapline

from tests import forkserver

FOR_TESTS = ("jsonschema", "mcp", "playwright.async_api", "pytest", "yaml")
"""What else many tests import. What pytest would write anew as a plugin of its own stays away."""


def forked_from_one() -> None:
    """Whatever execnet starts from now on."""
    origin = forkserver.started("tests.workers")

    def execute_child(process, *args):
        told = forkserver.how_told(args)
        if told["args"][-1] == popen_bootstrapline:
            forkserver.fork(process, origin, "worker", [], told)
        else:
            forkserver.USUAL(process, *args)

    subprocess.Popen._execute_child = execute_child


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in FOR_TESTS:
        importlib.import_module(name)
    forkserver.import_all()
    forkserver.ready_to_be_forked()
    forkserver.children_of(socket.socket(fileno=int(sys.argv[1])))
    forkserver.server_in_waiting()
    sys.argv = ["-c"]
    exec(eval(sys.stdin.readline()), {"__name__": "__main__"})
    forkserver.end(0)


if __name__ == "__main__":
    main()
