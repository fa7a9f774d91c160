"""What Temper asks of the guest itself, by the system's ssh client: to have booted, and to set its clock."""

import subprocess

from app.errors import EnvironmentUnusable
from app.targets.rootfs.loopback_sshd_port_and_known_hosts import SshAccess
from app.text.clean import get_last_line

_OPTIONS = ("BatchMode=yes", "IdentitiesOnly=yes", "StrictHostKeyChecking=yes", "LogLevel=ERROR")
_CLOCK_SECONDS = 60.0


def wait_for_systemd_state_after_boot(access: SshAccess, seconds: float) -> str:
    """Wait until systemd has no more jobs, and return its state: "running", or "degraded" if a unit failed."""
    return _run_over_ssh(access, "systemctl is-system-running --wait || true", seconds).strip()


def set_guest_clock(access: SshAccess) -> None:
    """Set the guest's clock by the machine's, which went on while the guest was stopped."""
    _run_over_ssh(access, "sudo -n hwclock --hctosys", _CLOCK_SECONDS)


def _run_over_ssh(access: SshAccess, command_line: str, seconds: float) -> str:
    options = [word for option in (*_OPTIONS, access.known_hosts_option) for word in ("-o", option)]
    command = ["ssh", "-F", "none", "-p", str(access.port), "-i", str(access.key), *options]
    command += [f"{access.account}@127.0.0.1", command_line]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as exc:
        raise EnvironmentUnusable(f"The machine did not answer {command_line!r} within {seconds:.0f} s.") from exc
    if ran.returncode != 0:
        said = get_last_line(ran.stderr, 160) or f"it ended with {ran.returncode}"
        raise EnvironmentUnusable(f"The machine did not run {command_line!r}: {said}.")
    return ran.stdout
