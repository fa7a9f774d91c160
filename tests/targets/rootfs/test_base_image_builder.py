import os
import select
import signal
import subprocess
import sys

import pytest

from app.errors import EnvironmentUnusable
from app.targets.rootfs.base_image_builder import run_command_or_raise

STARTER = """
from app.targets.rootfs.base_image_builder import run_command_or_raise
run_command_or_raise("m", ["sh", "-c", "echo $$ >{}; exec sleep 600"])
"""


def test_a_command_that_fails_is_named_with_its_last_words():
    with pytest.raises(EnvironmentUnusable, match="m: sh ended with 3: out of paper"):
        run_command_or_raise("m", ["sh", "-c", "echo out of paper >&2; exit 3"])


def test_a_command_that_takes_too_long_is_named():
    with pytest.raises(EnvironmentUnusable, match=r"m: sleep did not end within 0\.1 s"):
        run_command_or_raise("m", ["sleep", "600"], seconds=0.1)


def test_a_command_ends_with_its_starter_however_that_ends(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen([sys.executable, "-c", STARTER.format(fifo)]) as starter:
        command = os.pidfd_open(int(fifo.read_text()))
        os.kill(starter.pid, signal.SIGKILL)
    ended, _, _ = select.select([command], [], [], 20.0)
    if not ended:
        signal.pidfd_send_signal(command, signal.SIGKILL)
    os.close(command)
    assert ended
