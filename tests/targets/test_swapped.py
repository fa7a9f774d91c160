"""Something is swapped in between the check and the change: nothing outside the tree is read or written by it."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from app.errors import ActionFailed, TemperError
from app.events.event_field_types import WriteFile
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.program_sandbox import Confinement

CHANGE = WriteFile(path="/etc/profile.d/tmout.sh", content="TMOUT=600\n")
NAMED = frozenset({CHANGE.path})
STEPS = ["rename .run.V-1.1.new to run.V-1.1", "write tmout.sh", "rename tmout.sh", "sync the folder of tmout.sh"]
"""Made journalled, written beside, put in place, synced."""


class Swap:
    """Does its deed once, right before the step."""

    def __init__(self) -> None:
        self.step = ""
        self.deed = lambda: None

    def __call__(self, step: str) -> None:
        if step == self.step:
            self.step = ""
            self.deed()


@pytest.fixture
def outside(tmp_path):
    """What an attacker would like to have written: beside the tree, and with names that the change uses."""
    there = tmp_path / "outside"
    there.mkdir()
    (there / "tmout.sh").write_text("not ours\n")
    (there / "profile.d").mkdir()
    return there


def seen(folder: Path) -> dict[str, bytes]:
    return {str(at.relative_to(folder)): at.read_bytes() for at in folder.rglob("*") if at.is_file()}


def laid_out(tmp_path, swap):
    target = FixtureTarget("host", tmp_path / "host", confinement=Confinement("none", ""), step=swap)
    target.prepare()
    return target, tmp_path / "host/root/etc/profile.d"


def folder_by_link(folder, outside):
    folder.rename(folder.with_name("profile.d.was"))
    folder.symlink_to(outside)


def folder_by_file(folder, _):
    folder.rename(folder.with_name("profile.d.was"))
    folder.write_text("")


def above_by_link(folder, outside):
    folder.parent.rename(folder.parent.with_name("etc.was"))
    folder.parent.symlink_to(outside)


def file_by_link(folder, outside):
    (folder / "tmout.sh").symlink_to(outside / "tmout.sh")


def beside_by_link(folder, outside):
    at = folder / ".tmout.sh.temper-new"
    at.unlink(missing_ok=True)
    at.symlink_to(outside / "tmout.sh")


def file_by_pipe(folder, _):
    os.mkfifo(folder / "tmout.sh")


def file_by_hardlink(folder, outside):
    os.link(outside / "tmout.sh", folder / "tmout.sh")


def file_by_folder(folder, _):
    (folder / "tmout.sh").mkdir()


DEEDS = [folder_by_link, folder_by_file, above_by_link, file_by_link, beside_by_link, file_by_pipe, file_by_hardlink]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("deed", [*DEEDS, file_by_folder], ids=lambda deed: deed.__name__)
def test_a_swap_at_any_step_reaches_nothing_outside(tmp_path, outside, deed, step):
    swap = Swap()
    target, folder = laid_out(tmp_path, swap)
    (folder / "tmout.sh").unlink(missing_ok=True)
    before = seen(outside)
    swap.step, swap.deed = step, lambda: _done(deed, folder, outside)
    with suppress(TemperError):
        target.apply("run.V-1.1", [CHANGE], NAMED)
    assert swap.step == ""
    assert seen(outside) == before


def _done(deed, folder, outside):
    try:
        deed(folder, outside)
    except FileExistsError:
        (folder / "tmout.sh").unlink()
        deed(folder, outside)


@pytest.mark.parametrize("deed", [folder_by_link, above_by_link, file_by_link], ids=lambda deed: deed.__name__)
def test_a_link_that_is_there_already_is_refused_before_anything_is_kept(tmp_path, outside, deed):
    target, folder = laid_out(tmp_path, Swap())
    (folder / "tmout.sh").unlink(missing_ok=True)
    deed(folder, outside)
    with pytest.raises(ActionFailed):
        target.apply("run.V-1.1", [CHANGE], NAMED)
    assert target.list_pending() == []


def test_a_second_name_of_another_file_is_not_written_through(tmp_path, outside):
    """A hard link looks like a plain file: the change is refused, and the file keeps both names."""
    target, folder = laid_out(tmp_path, Swap())
    (outside / "tmout.sh").write_text("# TMOUT=1\n")
    os.link(outside / "tmout.sh", folder / "tmout.sh")
    with pytest.raises(ActionFailed, match="has 2 names"):
        target.apply("run.V-1.1", [CHANGE], NAMED)
    assert (outside / "tmout.sh").samefile(folder / "tmout.sh")
    assert (outside / "tmout.sh").read_text() == "# TMOUT=1\n"
