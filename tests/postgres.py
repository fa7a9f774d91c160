"""A PostgreSQL of the tests' own, from Debian's package: on loopback, in a folder of its own, gone with the tests."""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

SETTINGS = ("fsync=off", "synchronous_commit=off", "max_connections=200", "unix_socket_directories=")


@contextmanager
def postgres() -> Iterator[str]:
    """Its address, without a database."""
    programs = _programs()
    with TemporaryDirectory(prefix="temper-pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        user = _user(folder)
        _run(user, programs / "initdb", "--username=temper", "--auth=trust", "--encoding=UTF8", "-D", folder / "data")
        port = _free_port()
        options = ["-c", "listen_addresses=127.0.0.1", "-p", str(port)]
        for one in SETTINGS:
            options += ["-c", one]
        command = [programs / "postgres", "-D", folder / "data", *options]
        with (folder / "log").open("w") as log:
            server = subprocess.Popen(command, user=user, stdout=log, stderr=log, cwd=folder)
        try:
            _wait(programs, port, server, folder / "log")
            yield f"postgresql://temper@127.0.0.1:{port}"
        finally:
            server.send_signal(signal.SIGINT)  # "fast": it waits for nobody who is connected
            server.wait(timeout=30)


def new_database(server: str) -> str:
    name = f"t{secrets.token_hex(6)}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"create database {name}")  # type: ignore[call-overload]  # a name of ours
    return f"{server}/{name}"


def _programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    beside = shutil.which("postgres")
    assert found or beside, "these tests need a PostgreSQL server: apt-get install postgresql"
    return found[-1].parent if found else Path(str(beside)).parent


def _user(folder: Path) -> str | None:
    """PostgreSQL refuses to be root; its package brings an account."""
    if os.geteuid():
        return None
    account = pwd.getpwnam("postgres")
    os.chown(folder, account.pw_uid, account.pw_gid)
    return account.pw_name


def _run(user: str | None, *command: Path | str) -> None:
    done = subprocess.run(command, user=user, capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _wait(programs: Path, port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    ready = [programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port), "-t", "20"]
    while subprocess.run(ready, check=False).returncode:
        assert server.poll() is None, log.read_text()
