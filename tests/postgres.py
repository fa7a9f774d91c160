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
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from tests.brought_up import bring_up_server

FOR_SPEED = ("fsync=off", "synchronous_commit=off")


class Postgres:
    """A server in a folder, to be started and ended as often as a test wants."""

    def __init__(self, folder: Path, *settings: str) -> None:
        self._folder, self._port, self._programs = folder, _free_port(), _programs()
        self._settings = (
            "listen_addresses=127.0.0.1",
            f"port={self._port}",
            "max_connections=200",
            "unix_socket_directories=",
            *settings,
        )
        self._user = _user(folder)
        made = [
            self._programs / "initdb",
            "--username=temper",
            "--auth=trust",
            "--encoding=UTF8",
            "-D",
            folder / "data",
        ]
        done = subprocess.run(made, user=self._user, capture_output=True, text=True, check=False, cwd="/")
        assert done.returncode == 0, done.stderr

    @property
    def address(self) -> str:
        """Without a database."""
        return f"postgresql://temper@127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        return self._server.pid

    def said(self) -> str:
        return (self._folder / "log").read_text()

    def start(self) -> None:
        options = [word for one in self._settings for word in ("-c", one)]
        command = [self._programs / "postgres", "-D", self._folder / "data", *options]
        with (self._folder / "log").open("a") as log:
            self._server = subprocess.Popen(command, user=self._user, stdout=log, stderr=log, cwd=self._folder)
        ready = [self._programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self._port), "-t", "20"]
        while subprocess.run(ready, check=False).returncode:
            assert self._server.poll() is None, self.said()

    def end(self, number: signal.Signals = signal.SIGINT) -> None:
        """By SIGINT it waits for nobody who is connected, and ends in order."""
        self._server.send_signal(number)
        self._server.wait(timeout=30)


@contextmanager
def postgres(*settings: str) -> Iterator[Postgres]:
    with TemporaryDirectory(prefix="temper-pg-", ignore_cleanup_errors=True) as name:
        server = Postgres(Path(name), *settings)
        server.start()
        try:
            yield server
        finally:
            server.end()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """One for all tests that need no more of it than a database of their own."""
    with postgres(*FOR_SPEED) as started:
        yield started.address


def new_database(server: str) -> str:
    """Brought up."""
    return _created(server, f"t{secrets.token_hex(6)}", _brought_up(server))


def empty_database(server: str) -> str:
    return _created(server, f"t{secrets.token_hex(6)}", "template1")


@cache
def _brought_up(server: str) -> str:
    bring_up_server(_created(server, "brought_up", "template1"))
    return "brought_up"


def _created(server: str, name: str, template: str) -> str:
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"create database {name} template {template}")  # type: ignore[call-overload]  # names of ours
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


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
