"""A host of host.py that reboots: it gets another boot id, its lines die or fall silent, and it can stay away.

What the reboot command does is a script of ours, because the host shares the kernel of this machine.
"""

import shutil
from pathlib import Path
from uuid import uuid4

from tests.targets.ssh.host import SshHost

_REBOOT = """#!/bin/sh
[ "${0##*/}" = reboot ] || exit 1
[ ! -e /run/refuses ] || { echo 'Operation inhibited by a backup' >&2; exit 1; }
echo again >>/run/reboots
cat /proc/sys/kernel/random/uuid >/run/boot_id
sshd=$(cat /run/sshd.pid) sessions=$(cat /proc/$sshd/task/$sshd/children)
if [ -e /run/falls-silent ]; then
  ( until [ -e /run/answered ]; do sleep 0.05; done; kill -STOP $sessions; : >/run/silent ) </dev/null >/dev/null 2>&1 &
  exit 0
fi
[ ! -e /run/stays-away ] || kill -9 "$sshd"
kill -9 $sessions
"""


def make_bootable(host: SshHost) -> None:
    found = shutil.which("reboot", path="/usr/sbin:/usr/bin")
    assert found, "these tests need the command reboot, to put their own in its place: apt-get install systemd-sysv"
    stand_in, boot = host.folder / "reboot", host.root / "run/boot_id"
    stand_in.write_text(_REBOOT)
    stand_in.chmod(0o755)
    boot.write_text(f"{uuid4()}\n")
    host.enters(small=f"--ro-bind {stand_in} {Path(found).resolve()} --bind {boot} /proc/sys/kernel/random/boot_id")


def count_reboots(host: SshHost) -> int:
    at = host.root / "run/reboots"
    return len(at.read_text().splitlines()) if at.exists() else 0


class Machine:
    """Stands for the disposable machine that the host is: it keeps and restores the host's files, and has a console."""

    is_up, has_emulated_processor = True, False

    def __init__(self, host: SshHost) -> None:
        self._host, self._kept = host, host.folder / "kept"

    def read_console(self, _characters: int) -> str:
        return "[  OK  ] Started\nKernel panic - not syncing\n"

    def take_snapshot(self, _label: str) -> None:
        shutil.rmtree(self._kept, ignore_errors=True)
        self._copy(self._host.root, self._kept)

    def reset(self, _label: str) -> None:
        (self._host.root / "run/stays-away").unlink(missing_ok=True)
        self._copy(self._kept, self._host.root)

    def start(self) -> None:
        if self._host.is_down:
            self._host.log.close()
            self._host.start()

    def _copy(self, source: Path, goal: Path) -> None:
        for folder in ("etc", "var/lib"):
            shutil.rmtree(goal / folder, ignore_errors=True)
            shutil.copytree(source / folder, goal / folder, symlinks=True)
