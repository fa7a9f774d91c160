"""Temper, or the simulator, as a process without its seconds of imports: forked from one that has them behind it.

What comes of it is `python -m app WORDS` in all that a test can see: a child of this process with its own pid, which is
waited for, signalled and killed as any other. Only what is read while modules are imported is as it was when the first
one was started; a test of that (tests/cli/test_light.py, tests/test_wheel.py) starts an interpreter.
"""

import atexit
import ctypes
import gc
import importlib
import inspect
import io
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from contextlib import suppress
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
MOST_BYTES = 1 << 17
SIMULATOR = "app.engines.simulator"
BROUGHT_UP = "TEMPER_TESTS_BROUGHT_UP"
"""Here Temper's processes find the folder with databases to copy (tests/brought_up.py)."""
WITH_ENGINES = ("demo", "run", "serve", "worker")
USUAL = subprocess.Popen._execute_child
IN_WAITING: list["Server"] = []
"""What this process was born with, if it was."""
PR_SET_CHILD_SUBREAPER = 36
MADV_COLLAPSE = 25
LARGE_PAGE = 1 << 21
WHEN_CALLED = (
    "alembic.command",
    "alembic.ext.checkconstraint_byname",
    "anyio._backends._asyncio",
    "app.skills.stig",
    "certifi",
    "concurrent.futures.thread",
    "dbos._sys_db_sqlite",
    "fastapi.telemetry._runtime",
    "httpcore",
    "mako.ext.pygmentplugin",
    "mako.template",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite.pysqlite",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
)
"""What libraries import when they are first used."""


class Temper(subprocess.Popen):
    """`python -m app WORDS`, begun in milliseconds."""

    def __init__(self, *words, **how):
        super().__init__([str(word) for word in words], **how)

    def end(self, patience):
        """Asked to, and after `patience` seconds made to."""
        self.terminate()
        try:
            self.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            self.kill()
            self.wait()

    def _execute_child(self, *args):
        """In the place of fork and exec: the words, the place and the three streams go to whom is forked from."""
        told = how_told(args)
        fork(self, _server(), "app", told["args"], told)


def simulators_too() -> None:
    """Those that this process itself starts, where it opens a runtime."""

    def forked(process, words, told):
        fork(process, _server(), SIMULATOR, words, told)
        return True

    _simulators_by(forked)


def _simulators_by(start) -> None:
    """As a runtime starts them, in a group of their own. `start` is asked first: what it does not take begins as an
    interpreter, and so do those that tests/engines starts, which are about the process."""
    line = (sys.executable, "-m", SIMULATOR)

    def execute_child(self, *args):
        told = how_told(args)
        ours = tuple(told["args"][: len(line)]) == line and told["process_group"] == 0
        if not ours or not start(self, told["args"][len(line) :], told):
            USUAL(self, *args)

    subprocess.Popen._execute_child = execute_child


def how_told(args) -> dict:
    return inspect.signature(USUAL).bind(None, *args).arguments


def fork(process, server: "Server", module, words, told) -> None:
    _begin(process, told, lambda streams: server.fork(_order(module, words, told), streams))


def _order(module, words, told) -> dict:
    assert not told["preexec_fn"]
    assert not told["pass_fds"]
    return {
        "module": module,
        "words": words,
        "databases": os.environ.get(BROUGHT_UP),
        "cwd": str(told["cwd"] or Path.cwd()),
        "environment": dict(os.environ if told["env"] is None else told["env"]),
        "umask": told["umask"],
        "session": bool(told["start_new_session"]),
        "group": told["process_group"] == 0,
    }


def _begin(process, told, begun) -> None:
    streams = [told["p2cread"], told["c2pwrite"], told["errwrite"]]
    process.pid = begun([own if given == -1 else given for own, given in enumerate(streams)])
    process._child_created = True
    pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
    process._close_pipe_fds(*(told[name] for name in pipes))


def temper(*words, timeout=90, input=None, **how) -> subprocess.CompletedProcess:  # noqa: A002 (as subprocess.run has it)
    """To its end, with what it said, as text."""
    streams = {"stdin": subprocess.DEVNULL if input is None else subprocess.PIPE, "text": True}
    with Temper(*words, **{**streams, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}) as child:
        try:
            out, err = child.communicate(input, timeout)
        except BaseException:
            child.kill()
            raise
    return subprocess.CompletedProcess(child.args, child.returncode, out, err)


class Server:
    def __init__(self, line: socket.socket, wait) -> None:
        self._turn = threading.Lock()
        self._line, self._wait = line, wait

    def end(self) -> None:
        self._line.close()
        self._wait()

    def fork(self, order, streams) -> int:
        """The child is born a grandchild's child; its parents end at once, and it comes to us as an orphan does."""
        with self._turn:
            _adopt_orphans(True)
            try:
                socket.send_fds(self._line, [json.dumps(order).encode()], streams)
                pid, done = self._line.recv(64), self._line.recv(64)
                assert pid, "whom Temper is forked from has ended"
                assert done
            finally:
                _adopt_orphans(False)
        return int(pid)


def started(module: str, *words: str) -> Server:
    """An interpreter that imports all and is then forked from; it ends with this process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-m", module, str(theirs.fileno()), *words]
        process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=ROOT
        )
    server = Server(ours, process.wait)
    atexit.register(server.end)
    return server


@cache
def _server() -> Server:
    return IN_WAITING.pop() if IN_WAITING else started("tests.forkserver")


def server_in_waiting() -> None:
    """This process's own, forked from it as it is born, with one thread and all imports behind it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if not pid:
        ours.close()
        serve(theirs)
    theirs.close()
    server = Server(ours, lambda: os.waitpid(pid, 0))
    atexit.register(server.end)
    IN_WAITING.append(server)


def _adopt_orphans(yes: bool) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, int(yes), 0, 0, 0)


def import_all() -> None:
    import app.cli  # noqa: PLC0415 (whoever asks for a child does without)

    for module in pkgutil.iter_modules(app.cli.__path__, "app.cli."):
        importlib.import_module(module.name)
    for name in WHEN_CALLED:
        importlib.import_module(name)
    importlib.import_module("sqlalchemy.orm").configure_mappers()  # else by each child, with the first row it reads


def ready_to_be_forked() -> None:
    """Whatever there is now is shared, and stays. In pages of 2 MiB there are 512 times fewer to hand on at each fork;
    a child that writes to one takes apart that one. A kernel that has no such pages, or cannot gather them, goes on."""
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "who has threads cannot be forked from"
    gc.collect()
    gc.freeze()
    madvise = ctypes.CDLL(None, use_errno=True).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for line in Path("/proc/self/maps").read_text().splitlines():
        where, rights, _, _, _, *name = line.split(maxsplit=5)
        if rights == "rw-p" and name in ([], ["[heap]"]):
            begin, end = (int(at, 16) for at in where.split("-"))
            first, last = -(-begin // LARGE_PAGE) * LARGE_PAGE, end // LARGE_PAGE * LARGE_PAGE
            if first < last:
                madvise(first, last - first, MADV_COLLAPSE)


def children_of(line: socket.socket) -> dict:
    """Returns in each child, with its order; in the one that is forked from, never."""
    while True:
        said, streams, _, _ = socket.recv_fds(line, MOST_BYTES, 3)
        if not said:
            os._exit(0)
        child = os.fork()
        if child:
            for stream in streams:
                os.close(stream)
            os.waitpid(child, 0)
            line.send(b"done")
            continue
        between = os.getpid()
        grandchild = os.fork()
        if grandchild:
            line.send(str(grandchild).encode())
            os._exit(0)
        line.close()
        while os.getppid() == between:
            os.sched_yield()
        return _become(json.loads(said), streams)


def _simulator_in_waiting() -> dict | None:
    """The first simulator of a Temper that is just born, forked while that has one thread; there, its order."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid:
        theirs.close()
        _simulators_by(_first_from(pid, ours))
        return None
    ours.close()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for at in range(3):
        os.dup2(nowhere, at)
    os.close(nowhere)
    said, streams, _, _ = socket.recv_fds(theirs, MOST_BYTES, 3)
    if not said:
        os._exit(0)
    theirs.close()
    return _become(json.loads(said), streams)


def _first_from(pid: int, line: socket.socket):
    def called(process, words, told):
        if line.fileno() == -1:
            return False

        def begun(streams) -> int:
            with line:
                socket.send_fds(line, [json.dumps(_order(SIMULATOR, words, told)).encode()], streams)
            return pid

        _begin(process, told, begun)
        return True

    return called


def _become(order: dict, streams: list[int]) -> dict:
    """What an interpreter finds when it begins. By its name in /proc it is told from others."""
    Path("/proc/self/comm").write_text(order["module"].rpartition(".")[2])
    for at, stream in enumerate(streams):
        os.dup2(stream, at)
    for stream in streams:
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (_opened(at) for at in range(3))
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environment"])
    time.tzset()
    if order["umask"] >= 0:
        os.umask(order["umask"])
    if order["session"]:
        os.setsid()
    if order["group"]:
        os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return order


def _opened(at: int) -> io.TextIOWrapper:
    mode, errors = ("r", "strict") if at == 0 else ("w", "strict" if at == 1 else "backslashreplace")
    lines = at == 2 or os.isatty(at)
    return open(at, mode, buffering=1 if lines else -1, errors=errors, encoding="utf-8", closefd=False)


def _code_of(command) -> int:
    """As an interpreter has it: what is raised is said, and ends with 1."""
    try:
        return command() or 0
    except SystemExit as exc:
        if isinstance(exc.code, int | None):
            return exc.code or 0
        print(exc.code, file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001 (nobody is left to whom it could go on)
        traceback.print_exc()
        return 1


def end(code: int) -> None:
    """All that an interpreter sees to at its end, but for taking apart what it holds: each page of that is shared with
    whom it is forked from, and would be copied for it."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def serve(line: socket.socket) -> None:
    """To be forked from; what returns here is a child, and ends here."""
    from tests.brought_up import copied_from  # noqa: PLC0415 (whoever asks for a child does without)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked for the children ends them
    modules = {name: importlib.import_module(f"{name}.__main__") for name in ("app", SIMULATOR)}
    ready_to_be_forked()
    order = children_of(line)
    if order["databases"]:
        copied_from(Path(order["databases"]))
    if order["words"] and order["words"][0] in WITH_ENGINES:
        order = _simulator_in_waiting() or order
    sys.modules["__main__"] = module = modules[order["module"]]
    sys.argv = [str(module.__file__), *order["words"]]
    end(_code_of(module.main))


if __name__ == "__main__":
    import_all()
    serve(socket.socket(fileno=int(sys.argv[1])))
