import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.events.record import check_chain_and_get_head
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.targets.host_registry import open_target
from app.targets.rootfs.base_image_definition import BaseImage
from app.targets.rootfs.rootfs_machine import Rootfs
from tests.hosts.over_ssh import OverSsh

KEPT = Path(os.environ.get("TEMPER_TEST_HOSTS", Path.home() / ".cache/temper-test-hosts"))
"""Bases outlive a test run: the first takes half a minute, the next nothing."""


class Site:
    """A data folder in which the machine is a host; `temper` over it, as a person types it."""

    def __init__(self, data: Path, machine: Rootfs) -> None:
        self.data, self.machine = data, machine

    def command(self, *words: str, data: bool = True) -> list[str]:
        return [sys.executable, "-m", "app", *words, *(("--data", str(self.data)) if data else ())]

    def temper(self, *words: str, data: bool = True) -> subprocess.CompletedProcess[str]:
        line = self.command(*words, data=data)
        return subprocess.run(line, capture_output=True, text=True, check=False, timeout=800)

    def add(self) -> None:
        at, root = self.machine.get_access(), self.machine.get_access("root")
        place, known = f"{at.account}@127.0.0.1:{at.port}", str(at.known_hosts)
        watch = f"root={root.key}"
        done = self.temper("host", "add", "deb", place, "--key", str(at.key), "--known-hosts", known, "--watch", watch)
        assert done.returncode == 0, done.stderr

    def events(self) -> list[dict]:
        """Of the newest run, with its chain checked."""
        database = open_and_migrate_database(self.data / "temper.sqlite")
        with database.connect() as connection:
            run = connection.exec_driver_sql("select id from run order by queued_at desc limit 1").scalar_one()
        rows = EventStore(database).read_lines(run)
        database.dispose()
        check_chain_and_get_head(rows)
        return [json.loads(line) for _, line, _ in rows]


def inside(machine, script):
    """What root of the machine makes of a script, by a way of our own."""
    ran = asyncio.run(OverSsh(machine.get_access()).run(["sh", "-c", script], 30))
    assert ran.code == 0, ran.stderr
    return ran.stdout.decode("utf-8", "surrogateescape").strip()


def root_may_log_in(machine):
    return asyncio.run(OverSsh(machine.get_access("root")).may_log_in())


@pytest.fixture
def site(tmp_path, machine):
    machine.reset()
    made = Site(tmp_path / "data", machine)
    made.add()
    return made


@pytest.fixture
def opened(site):
    """The machine as the product holds it."""
    target = open_target("deb", site.data / "hosts")
    yield target
    target.close()


@pytest.fixture(scope="module")
def machine():
    one = Rootfs(KEPT, f"test-{os.getpid()}")
    try:
        one.build(BaseImage())
        one.start()
        yield one
    finally:
        one.discard()
