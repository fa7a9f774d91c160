"""Checks by trial what a disposable machine needs here; each lack is a sentence with its remedy."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from app.targets.rootfs import namespace
from app.text.clean import get_last_line

_SECONDS = 20
_TRIAL = """
set -e
mount --make-rprivate /
mkdir -p "$1/low" "$1/up" "$1/work" "$1/all"
mount -t overlay overlay -o "lowerdir=$1/low,upperdir=$1/up,workdir=$1/work,userxattr" "$1/all"
mount -t proc proc "$1/all"
"""


def build_namespace_command(folder: Path, *command: str) -> list[str]:
    return [sys.executable, namespace.__file__, str(folder), *command]


def list_missing_requirements(folder: Path) -> list[str]:
    """Return what building a machine lacks here. `folder` holds the machines."""
    found = []
    if not shutil.which("mmdebstrap"):
        found.append("mmdebstrap is not installed: apt-get install mmdebstrap.")
    if not shutil.which("ssh-keygen"):
        found.append("ssh-keygen is not installed: apt-get install openssh-client.")
    if os.geteuid() != 0:
        if not shutil.which("newuidmap"):
            found.append("newuidmap is not installed: apt-get install uidmap.")
        if not namespace.find_subordinate_ids("/etc/subuid") or not namespace.find_subordinate_ids("/etc/subgid"):
            found.append(
                "This account has no ids to lend: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 it."
            )
    return found or _list_namespace_faults(folder)


def _list_namespace_faults(folder: Path, seconds: float = _SECONDS) -> list[str]:
    create_namespace_owned_folder(folder)
    own = f"trial/{os.getpid()}"  # another process may try it in the same folder
    trial = build_namespace_command(folder, "sh", "-c", _TRIAL, "sh", own)
    try:
        ran = subprocess.run(trial, capture_output=True, text=True, timeout=seconds, check=False)
        subprocess.run(build_namespace_command(folder, "rm", "-rf", own), timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return [f"The trial of a user namespace did not end within {seconds:g} s: this machine is too busy."]
    if ran.returncode == 0:
        return []
    said = get_last_line(ran.stderr, 160) or "it gave no reason"
    helps = "kernel.unprivileged_userns_clone=1, apparmor_restrict_unprivileged_userns=0 and a kernel from 5.11 on"
    return [f"A user namespace with an overlay does not work here ({said}); it takes sysctl {helps}."]


def create_namespace_owned_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        os.chown(folder, namespace.FIRST, namespace.FIRST)
