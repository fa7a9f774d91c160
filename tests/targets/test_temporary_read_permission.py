"""A file that is closed to its own owner is read all the same, and is closed again whatever happens."""

import fcntl
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.errors import EnvironmentUnusable
from app.targets.crash_safe_writes import Disk, ignore_step
from app.targets.local_tree import LocalTree
from tests.targets.forked import KILLED, Killer, give_to_nobody, in_child
from tests.targets.raw import everything

CLOSED = "/etc/shadow"


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="temper-loan-") as name:
        shadow = Path(name, "root/etc/shadow")
        shadow.parent.mkdir(parents=True)
        shadow.write_text("root:*:1::::::\n")
        shadow.chmod(0)
        Path(name, "owners.json").write_text("{}")
        give_to_nobody(name)
        yield Path(name)


def tree(folder: Path, kill_at: int = 0) -> LocalTree:
    return LocalTree(folder, Disk(Killer(kill_at) if kill_at else ignore_step))


def test_its_owner_reads_it_without_being_root(folder):
    before = everything(folder)
    assert in_child(lambda: tree(folder).read(CLOSED), as_nobody=True) == (0, b"root:*:1::::::\n")
    assert in_child(lambda: tree(folder).state(CLOSED).mode, as_nobody=True) == (0, 0)
    assert everything(folder) == before


@pytest.mark.parametrize("step", range(1, 12))
def test_a_kill_during_the_loan_is_settled_by_the_next_who_opens_the_tree(folder, step):
    before = everything(folder)
    assert in_child(lambda: tree(folder, step).read(CLOSED), as_nobody=True)[0] in (0, KILLED)
    assert in_child(lambda: tree(folder).state(CLOSED).mode, as_nobody=True) == (0, 0)
    assert everything(folder) == before
    assert not (folder / "loan.json").exists()


def test_a_mode_that_is_restored_is_on_disk_before_its_note_goes(folder):
    assert in_child(lambda: tree(folder, 5).read(CLOSED), as_nobody=True)[0] == KILLED
    steps: list[str] = []
    LocalTree(folder, Disk(steps.append))
    assert steps[:2] == ["set the mode of an open file", "remove loan.json"]


def test_a_file_that_cannot_be_opened_all_the_same_is_closed_again(folder):
    """As by a file server, which has a lease on it: then an open that does not wait fails."""
    before, shadow = everything(folder), folder / "root/etc/shadow"

    def read_with_a_lease_on_it() -> bytes | None:
        signal.signal(signal.SIGIO, signal.SIG_IGN)  # the kernel asks for the lease back
        shadow.chmod(0o400)
        lease = os.open(shadow, os.O_RDONLY)
        shadow.chmod(0)
        fcntl.fcntl(lease, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        return tree(folder).read(CLOSED)

    assert in_child(read_with_a_lease_on_it, as_nobody=True)[0] == 1
    assert shadow.stat().st_mode & 0o777 == 0
    assert in_child(lambda: tree(folder).read(CLOSED), as_nobody=True) == (0, b"root:*:1::::::\n")
    assert everything(folder) == before


def test_a_file_that_takes_the_name_meanwhile_keeps_its_mode(folder):
    new = folder / "root/etc/new"
    new.write_text("another\n")
    new.chmod(0o640)

    def replace_shadow(step: str) -> None:
        if step.startswith("set the mode") and new.exists():
            new.rename(folder / "root/etc/shadow")

    give_to_nobody(folder)
    read = in_child(lambda: LocalTree(folder, Disk(replace_shadow)).read(CLOSED), as_nobody=True)
    assert read == (0, b"root:*:1::::::\n")
    assert (folder / "root/etc/shadow").stat().st_mode & 0o777 == 0o640


def test_a_file_that_is_another_by_now_keeps_its_mode(folder):
    """The note outlived its loan: the path holds a new file, with a mode that was meant."""
    assert in_child(lambda: tree(folder, 6).read(CLOSED), as_nobody=True)[0] == KILLED
    assert (folder / "loan.json").exists()
    shadow = folder / "root/etc/shadow"
    new = shadow.with_name("new")
    new.write_text("another\n")
    new.chmod(0o400)
    new.rename(shadow)
    tree(folder)
    assert shadow.stat().st_mode & 0o777 == 0o400


def test_a_file_of_somebody_else_is_told_not_taken_for_absent(folder):
    """Only root can give a file away; anybody else owns it, and reads it."""
    shadow = folder / "root/etc/shadow"
    if os.geteuid() == 0:
        os.chown(shadow, 0, 0)

    def read() -> str:
        try:
            return str(tree(folder).read(CLOSED))
        except EnvironmentUnusable as exc:
            return str(exc)

    status, said = in_child(read, as_nobody=True)
    assert status == 0
    assert said is not None
    assert ("does not own it" in said) == (os.geteuid() == 0)
    assert shadow.stat().st_mode & 0o777 == 0
    assert not (folder / "loan.json").exists(), "with mode 0400 it would keep the tree from being opened again"
