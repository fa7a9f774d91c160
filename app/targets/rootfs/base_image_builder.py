"""Builds and unpacks base images, in the folder that holds all machines."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from app.errors import EnvironmentUnusable
from app.targets.rootfs.base_image_definition import BaseImage
from app.targets.rootfs.loopback_sshd_port_and_known_hosts import KEYS
from app.targets.rootfs.requirements import build_namespace_command, create_namespace_owned_folder
from app.text.clean import clean_text

_BUILD_SECONDS, _SECONDS = 1800, 120


def run_command_or_raise(
    name_in_error: str, command: Sequence[str], seconds: float = _SECONDS, stdin: int = subprocess.DEVNULL
) -> None:
    """Run a command; raise EnvironmentUnusable, with its last words if it fails, and if it takes too long.

    It ends with this process, however that ends.
    """
    tied = ["setpriv", "--pdeathsig", "TERM", *command]
    try:
        ran = subprocess.run(tied, stdin=stdin, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as exc:
        raise EnvironmentUnusable(f"{name_in_error}: {Path(command[0]).name} did not end within {seconds:g} s") from exc
    if ran.returncode != 0:
        said = clean_text(" ".join(ran.stderr.split())[-400:], 400)
        raise EnvironmentUnusable(
            f"{name_in_error}: {Path(command[0]).name} ended with {ran.returncode}: {said or 'no reason'}"
        )


def build_and_unpack_new_base(machines_folder: Path, base: BaseImage, relative_base_folder: str) -> None:
    """Build the base image and unpack it to the folder below `machines_folder`, completely or not at all."""
    target = machines_folder / relative_base_folder
    create_namespace_owned_folder(target.parent)
    archive = target.with_name(f"{target.name}.tar")
    part = f"{relative_base_folder}.part"
    try:
        run_command_or_raise(base.name, base.build_command(str(archive)), _BUILD_SECONDS)
        archive.chmod(0o644)
        for command in (
            ["rm", "-rf", part],
            ["mkdir", part],
            ["tar", "-C", part, "--numeric-owner", "--exclude=./dev/*", "-xf", f"{relative_base_folder}.tar"],
            ["mv", part, relative_base_folder],
        ):
            run_command_or_raise(base.name, build_namespace_command(machines_folder, *command), _BUILD_SECONDS)
    finally:
        archive.unlink(missing_ok=True)


def create_login_keys(folder: Path, machine_name: str) -> None:
    """Create the machine's login keys anew in its folder."""
    for key in KEYS:
        (folder / key).unlink(missing_ok=True)
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", f"{key}@vault", "-f", str(folder / key)]
        run_command_or_raise(machine_name, command)
        # The machine's root is an unprivileged user here and reads the public half.
        (folder / f"{key}.pub").chmod(0o644)
