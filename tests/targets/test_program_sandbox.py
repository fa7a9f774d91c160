import os
import shutil
from pathlib import Path

import pytest

from app.targets.program_sandbox import Confinement, detect_confinement


@pytest.fixture(scope="module")
def confinement():
    return detect_confinement()


def test_it_says_in_words_what_there_is(confinement):
    assert confinement.words.startswith("typed file actions")
    assert (confinement.kind == "none") == ("file actions only" in confinement.words)


def test_a_machine_without_any_wall_says_why(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = detect_confinement()
    assert found.kind == "none"
    assert "bwrap is not installed" in found.words


def test_a_wall_that_does_not_stand_is_not_used(monkeypatch, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'no permission to make namespaces' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = detect_confinement()
    assert found.kind == "none"
    assert "no permission to make namespaces" in found.words


@pytest.fixture(params=["walled", "bare"])
def run(request, confinement, tmp_path):
    """Limits hold with and without a wall to enforce them."""
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    (root / "etc/hostname").write_text("relay\n")
    walls = confinement if request.param == "walled" and confinement.kind != "none" else bare(tmp_path)
    return lambda *command, seconds=5.0: walls.run(root, list(command), seconds)


def bare(folder: Path) -> Confinement:
    """A stand-in that only chroots in name: it drops the wall's arguments and runs the command."""
    script = folder / "bwrap"
    script.write_text('#!/bin/sh\nwhile [ "$1" != "--chdir" ]; do shift; done\nshift 2\nexec "$@"\n')
    script.chmod(0o755)
    return Confinement("bwrap", "", str(script))


def command_of(process):
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def test_a_command_that_is_slow_is_stopped_with_its_children(run):
    long = str(10_000_000 + os.getpid())
    outcome = run("/bin/sh", "-c", f"echo begun; sleep {long} & wait", seconds=0.4)
    assert outcome.code is None
    assert outcome.output == "begun\n"
    assert f"sleep\0{long}\0".encode() not in [command_of(process) for process in Path("/proc").glob("[0-9]*")]


def test_a_command_that_never_stops_talking_is_stopped(run):
    outcome = run("/bin/sh", "-c", "while :; do echo line; done")
    assert outcome.code is None
    assert len(outcome.output) <= 16 * 1024


def test_what_it_says_is_cleaned(run):
    assert run("/bin/sh", "-c", r"printf '\033[31mred\033[0m\n'; exit 3").output == "red\n"
    assert run("/bin/sh", "-c", "exit 3").code == 3


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
@pytest.mark.parametrize("run", ["walled"], indirect=True)
def test_the_wall_holds(run):
    assert run("/bin/cat", "/etc/hostname").output == "relay\n"
    assert run("/bin/sh", "-c", "echo x > /etc/hostname").code != 0
    assert run("/bin/sh", "-c", "echo x > /usr/x").code != 0
    assert run("/bin/sh", "-c", "ls /home /root").code != 0
    assert run("/bin/sh", "-c", "grep -c : /proc/net/dev").output.strip() in ("0", "1")
    assert run("/bin/sh", "-c", "ls /proc | grep -c '^[0-9]'").output.strip() in ("3", "4", "5")
