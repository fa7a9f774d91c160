"""What lies in the data folder is its account's alone, whatever the shell that started Temper lets others read."""

import logging
import os
import stat
import subprocess
import sys

import pytest

from app.private_files import restrict_folder_and_direct_entries_to_owner
from tests.evidence.played import RULES
from tests.forkserver import temper

LAX = {"umask": 0o000}


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


def open_to_others(data):
    """All but hosts/fixture*, whose modes are those of a host."""
    hosts = data / "hosts"
    return {
        str(path.relative_to(data.parent)): oct(mode(path))
        for path in [data, *data.rglob("*")]
        if mode(path) & 0o077 and not path.is_symlink() and (hosts not in path.parents or path.parent == hosts)
    }


@pytest.fixture(scope="module")
def laid(tmp_path_factory):
    """A run of its own, under a umask of 000."""
    data = tmp_path_factory.mktemp("lax") / "data"
    words = ["run", "--data", str(data), "--speed", "0", "--rules", RULES.split(",")[0]]
    done = temper(*words, **LAX)
    assert done.returncode in (0, 2), done.stderr
    return data


def test_nothing_in_a_data_folder_is_for_others(laid):
    assert open_to_others(laid) == {}
    assert {"temper.sqlite", "dbos.sqlite", "keys", "hosts", "worker.lock"} <= {at.name for at in laid.iterdir()}


def test_the_built_in_host_has_the_modes_of_a_host(laid):
    [etc] = [at for at in laid.glob("hosts/fixture/**/etc") if (at / "ssh").is_dir()][:1]
    assert mode(etc) == mode(etc / "ssh") == 0o755
    assert mode(etc / "passwd") == 0o644


def test_a_command_that_makes_the_folder_keeps_it_closed(tmp_path):
    done = temper("admin", "create", "ada", "--data", tmp_path / "data", input="a long password\n", **LAX)
    assert done.returncode == 0, done.stderr
    assert open_to_others(tmp_path / "data") == {}


def test_a_folder_that_was_left_open_is_closed_with_a_word(tmp_path, caplog):
    data = tmp_path / "data"
    (data / "hosts" / "fixture").mkdir(parents=True)
    (data / "temper.sqlite").write_text("")
    (data / "elsewhere").symlink_to(tmp_path)
    for path, was in ((data, 0o755), (data / "hosts", 0o755), (data / "temper.sqlite", 0o644)):
        path.chmod(was)
    (data / "hosts" / "fixture").chmod(0o755)
    tmp_path.chmod(0o755)
    with caplog.at_level(logging.WARNING):
        restrict_folder_and_direct_entries_to_owner(data)
    assert [mode(at) for at in (data, data / "hosts", data / "temper.sqlite")] == [0o700, 0o700, 0o600]
    assert (mode(data / "hosts" / "fixture"), mode(tmp_path)) == (0o755, 0o755)
    assert f"{data} could be read by others (mode 755): now it cannot" in caplog.text
    caplog.clear()
    restrict_folder_and_direct_entries_to_owner(data)
    assert caplog.text == ""


def test_a_fault_is_told_in_a_file_of_its_own(tmp_path):
    """A name that somebody could have guessed may be a link of theirs."""
    (tmp_path / f"temper-fault-{os.getpid()}.txt").symlink_to(tmp_path / "victim")
    fault = "import app.__main__ as m, sys\nm.app = lambda: 1 / 0\nsys.exit(m.main())"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", fault], env=environment, capture_output=True, text=True, check=False, **LAX
    )
    [kept] = [at for at in tmp_path.iterdir() if not at.is_symlink()]
    assert str(kept) in done.stderr
    assert mode(kept) == 0o600
    assert "ZeroDivisionError" in kept.read_text()
