import fcntl
import os
from pathlib import Path

import pytest

from app.targets.rootfs.pid_file_process import DetachedProcess


@pytest.fixture
def process(tmp_path):
    one = DetachedProcess(tmp_path / "pid")
    yield one
    one.kill_tree()


def start(process, tmp_path, script):
    (tmp_path / "script").write_text(script)
    os.mkfifo(tmp_path / "ready")
    process.start(["sh", "-s", str(tmp_path / "ready")], tmp_path / "script", tmp_path / "output")
    return (tmp_path / "ready").read_text().split()


def test_it_is_found_again_and_ended_with_all_that_it_started(process, tmp_path):
    pids = start(process, tmp_path, 'sleep 60 & a=$!; setsid sleep 60 & echo $$ $a $! > "$1"; wait')
    again = DetachedProcess(tmp_path / "pid")
    assert again.is_alive
    again.kill_tree()
    assert not process.is_alive
    assert [pid for pid in pids if _runs(pid)] == []
    again.kill_tree()


def test_a_stranger_with_its_number_is_left_alone(process, tmp_path):
    (pid,) = start(process, tmp_path, 'echo $$ > "$1"; sleep 60')
    noted = (tmp_path / "pid").read_text()
    (tmp_path / "stranger").write_text(f"{pid} 1")
    stranger = DetachedProcess(tmp_path / "stranger")
    assert not stranger.is_alive
    stranger.kill_tree()
    assert process.is_alive
    assert (tmp_path / "pid").read_text() == noted


def test_a_damaged_file_names_no_process(process, tmp_path):
    (tmp_path / "pid").write_text("x y")
    assert not process.is_alive
    process.kill_tree()
    assert not (tmp_path / "pid").exists()


def test_it_holds_nothing_that_whoever_began_it_was_handed(process, tmp_path):
    with (tmp_path / "lock").open("w") as lock:
        os.set_inheritable(lock.fileno(), True)
        fcntl.flock(lock, fcntl.LOCK_EX)
        start(process, tmp_path, 'echo $$ > "$1"; sleep 60')
    with (tmp_path / "lock").open("w") as again:
        fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
