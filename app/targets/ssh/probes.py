"""Health probes of a host over SSH: a new login and sudo, the host's programs, and its files."""

import threading
import time
from collections.abc import Callable

from app.errors import LineCut, TemperError
from app.events.words import Probe
from app.syntax.files import Files
from app.targets.accounts import people
from app.targets.health import health
from app.targets.questions.asked import Fill
from app.targets.ssh.asking import asked
from app.targets.ssh.line import SshLine
from app.targets.ssh.told import told
from app.text.clean import clean

_LONGEST = 300
_DAY = 86400
_DEAF = 2.0
_NEEDS = {
    "accounts": ("/etc/shadow",),
    "sudoers": ("/etc/sudoers",),
    "sshd-config": ("/etc/ssh/sshd_config",),
    "pam": ("/etc/pam.d/system-auth", "/etc/pam.d/common-auth", "/etc/pam.d/common-account"),
    "backup-login": ("/etc/mission/backup.conf",),
    "mission-config": ("/etc/mission/mission.conf",),
    "mission-inbox": ("/etc/mission/mission.conf",),
}
"""A file probe runs only if one of its files exists."""

_TRIED = {"agent-login", "agent-sudo"}
"""Replaced by a real login."""


def new_login(line: SshLine) -> tuple[Probe, Probe]:
    """Probe login and sudo over a new connection; the open one proves nothing."""
    other = line.fresh()
    who = f"new login as {line.end.user} for the agent itself"
    try:
        if why := _failed(line, lambda: _logged_in(other)):
            return Probe("agent-login", False, clean(f"{who}: {why}", _LONGEST)), Probe(
                "agent-sudo", False, "nobody can log in to try"
            )
        let_in = Probe("agent-login", True, f"{who}: let in")
        if why := _failed(line, other.become_root):
            return let_in, Probe("agent-sudo", False, clean(why, _LONGEST))
        return let_in, Probe("agent-sudo", True, f"{line.end.user} acts as root without a password")
    finally:
        other.close()


def _failed(line: SshLine, tried: Callable[[], None]) -> str:
    """Run `tried` and return its error, or "". Raise instead if the main connection is lost."""
    try:
        tried()
    except TemperError as exc:
        line.stands()
        return str(exc)
    return ""


def watched_logins(line: SshLine) -> tuple[Probe, ...]:
    """Probe the logins of the watched accounts."""
    return tuple(_watched(line, line.of(line.end.of(one)), one.user) for one in line.end.watched)


def _watched(line: SshLine, other: SshLine, user: str) -> Probe:
    name, who = f"login-{user}", f"new login as {user}"
    try:
        why = _failed(line, lambda: _logged_in(other))
        return Probe(name, not why, clean(f"{who}: {why}", _LONGEST) if why else f"{who}: let in")
    finally:
        other.close()


def _logged_in(line: SshLine) -> None:
    """Log in; retry for two seconds, because sshd refuses connections while it reloads."""
    until = time.monotonic() + _DEAF
    while True:
        try:
            line.log_in()
        except LineCut:
            if time.monotonic() > until:
                raise
            threading.Event().wait(0.05)
        else:
            return


def logs(line: SshLine, lines: int) -> tuple[tuple[str, str], ...]:
    return tuple(told(line.run("look", str(lines)).text.splitlines()).of("log"))


def of_host(line: SshLine, files: Files) -> tuple[Probe, ...]:
    """Return program probes, and file probes for the names that these do not cover."""
    own, fill = asked(line, files)
    known = {probe.name for probe in own}
    return (*own, *(probe for probe in of_files(files, fill) if probe.name not in known))


def of_files(files: Files, fill: Fill | None = None) -> tuple[Probe, ...]:
    found = health(files, int(time.time()) // _DAY, fill)
    no_use = {name for name, paths in _NEEDS.items() if not any(files.state(path) is not None for path in paths)}
    if not people(files).administrators():
        no_use.add("administrator")
    return tuple(probe for probe in found if probe.name not in no_use | _TRIED)
