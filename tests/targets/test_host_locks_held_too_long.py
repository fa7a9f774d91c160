"""A frozen process keeps a host from another: which, and since when, is the kernel's to say."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from app.targets.host_lock import CHANGE_LOCK, HostLock
from app.targets.host_locks_held_too_long import HELD_LONG, find_hosts_held_long_while_others_wait

HOLDER = """
import sys
from pathlib import Path
from app.targets.host_lock import HostLock
with HostLock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    for name in ("db", "web"):
        (tmp_path / name).mkdir()
    line = [sys.executable, "-c", HOLDER, tmp_path / "web" / CHANGE_LOCK]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "held\n"
        yield child
        child.kill()


def test_who_holds_a_host_that_another_waits_for_is_named_with_what_helps(tmp_path, holder):
    assert find_hosts_held_long_while_others_wait(tmp_path, 0.0) == [], "nobody waits"
    through, lock = threading.Event(), HostLock(tmp_path / "web" / CHANGE_LOCK)

    def wait():
        with lock:
            through.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    while not (found := find_hosts_held_long_while_others_wait(tmp_path, 0.0)):
        pass
    [held] = found
    assert (held.host, held.pid, held.stopped, held.waiting) == ("web", holder.pid, False, (os.getpid(),))
    assert held.sentence.endswith(f"wait, or, if its run makes no progress, end it with kill -9 {holder.pid}")
    assert find_hosts_held_long_while_others_wait(tmp_path) == [], "it may be through in a moment"
    holder.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, holder.pid, os.WSTOPPED | os.WNOWAIT)
    os.utime(tmp_path / "web" / CHANGE_LOCK, (held.since - 40, held.since - 40))
    [held] = find_hosts_held_long_while_others_wait(tmp_path)
    assert held.stopped
    assert held.sentence.startswith(f"process {holder.pid} has held host web for 4")
    assert held.sentence.endswith(f"resume it with kill -CONT {holder.pid}, or end it with kill -9 {holder.pid}")
    holder.kill()
    waiting.join(timeout=30)
    assert through.is_set()
    assert find_hosts_held_long_while_others_wait(tmp_path, -HELD_LONG) == []


def test_a_lock_on_a_file_of_another_file_system_with_the_same_inode_is_another_lock(tmp_path, holder):
    """The advice is to end the holder, so no process that holds something else may be named."""
    inode = (tmp_path / "web" / CHANGE_LOCK).stat().st_ino
    ours, other = (f"FLOCK ADVISORY WRITE {pid} 00:00:{inode} 0 EOF" for pid in (holder.pid, os.getpid()))
    locks = tmp_path / "locks"
    for lines in ((f"1: {other}", f"1: -> {other}"), (f"1: {ours}", f"2: {other}", f"2: -> {other}")):
        locks.write_text("\n".join(lines) + "\n")
        assert find_hosts_held_long_while_others_wait(tmp_path, 0.0, locks) == []
    locks.write_text(f"1: {ours}\n1: -> {ours}\n2: {other}\n2: -> {other}\n")
    [held] = find_hosts_held_long_while_others_wait(tmp_path, 0.0, locks)
    assert (held.pid, held.waiting) == (holder.pid, (holder.pid,))
