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
from tests.once import built_once

FOR_SPEED = ("fsync=off", "synchronous_commit=off")
BROUGHT_UP = "brought_up"


class Postgres:
    """A server in a folder, to be started and ended as often as a test wants."""

    def __init__(self, folder: Path, *settings: str, like: Path | None = None) -> None:
        """`like`: the folder of one that has ended, and is begun with."""
        self.folder, self._port, self._programs = folder, _free_port(), _programs()
        self._settings = (
            "listen_addresses=127.0.0.1",
            f"port={self._port}",
            "max_connections=200",
            "unix_socket_directories=",
            *settings,
        )
        self._user = _user(folder)
        if like:
            shutil.copytree(like / "data", folder / "data")
            _given_to(self._user, folder / "data")
        else:
            self._init()

    def _init(self) -> None:
        words = ("--username=temper", "--auth=trust", "--encoding=UTF8", "--no-sync")
        made = [self._programs / "initdb", *words, "-D", self.folder / "data"]
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
        return (self.folder / "log").read_text()

    def start(self) -> None:
        options = [word for one in self._settings for word in ("-c", one)]
        command = [self._programs / "postgres", "-D", self.folder / "data", *options]
        with (self.folder / "log").open("a") as log:
            self._server = subprocess.Popen(command, user=self._user, stdout=log, stderr=log, cwd=self.folder)
        ready = [self._programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self._port), "-t", "20"]
        while subprocess.run(ready, check=False).returncode:
            assert self._server.poll() is None, self.said()

    def end(self, number: signal.Signals = signal.SIGINT) -> None:
        """By SIGINT it waits for nobody who is connected, and ends in order."""
        self._server.send_signal(number)
        self._server.wait(timeout=30)


@contextmanager
def postgres(*settings: str, like: Path | None = None) -> Iterator[Postgres]:
    with TemporaryDirectory(prefix="temper-pg-", ignore_cleanup_errors=True) as name:
        server = Postgres(Path(name), *settings, like=like)
        server.start()
        try:
            yield server
        finally:
            server.end()


@pytest.fixture(scope="session")
def postgres_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a server that has a database which was brought up, once in a whole run of the tests."""
    return built_once(tmp_path_factory, "postgres", _with_one_brought_up)


@pytest.fixture(scope="session")
def postgres_server(postgres_folder: Path) -> Iterator[str]:
    """One for all tests of a worker that need no more of it than a database of their own."""
    with postgres(*FOR_SPEED, like=postgres_folder) as started:
        yield started.address


def _with_one_brought_up(folder: Path) -> None:
    with postgres(*FOR_SPEED) as server:
        _brought_up(server.address)
        server.end()
        shutil.copytree(server.folder / "data", folder / "data")


def new_database(server: str) -> str:
    """Brought up."""
    return _created(server, f"t{secrets.token_hex(6)}", _brought_up(server))


def empty_database(server: str) -> str:
    return _created(server, f"t{secrets.token_hex(6)}", "template1")


@cache
def _brought_up(server: str) -> str:
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        there = connection.execute("select 1 from pg_database where datname = %s", [BROUGHT_UP]).fetchone()
    if not there:
        bring_up_server(_created(server, BROUGHT_UP, "template1"))
    return BROUGHT_UP


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
    name = pwd.getpwnam("postgres").pw_name
    shutil.chown(folder, name, name)
    return name


def _given_to(user: str | None, folder: Path) -> None:
    if user:
        for at in (folder, *folder.rglob("*")):
            shutil.chown(at, user, user)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
