"""Is the host still of use? A new login and a new sudo, what its own programs say, and what its files say."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from app.errors import LineCut, TemperError
from app.events.clean import clean
from app.events.words import Probe
from app.files import Files
from app.targets.health import health
from app.targets.people import people
from app.targets.ssh.line import Line

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
"""A probe of files is asked where one of its files is; the agent's own login is tried instead of read."""


@dataclass(frozen=True)
class Look:
    probes: tuple[Probe, ...]
    logs: tuple[tuple[str, str], ...]


def new_login(line: Line) -> tuple[Probe, Probe]:
    """A new connection, since the old one proves nothing."""
    other = line.fresh()
    who = f"new login as {line.end.user} for the agent itself"
    try:
        try:
            _logged_in(other)
        except TemperError as exc:
            return Probe("agent-login", False, clean(f"{who}: {exc}", _LONGEST)), Probe(
                "agent-sudo", False, "nobody can log in to try"
            )
        let_in = Probe("agent-login", True, f"{who}: let in")
        try:
            other.become_root()
        except TemperError as exc:
            return let_in, Probe("agent-sudo", False, clean(str(exc), _LONGEST))
        return let_in, Probe("agent-sudo", True, f"{line.end.user} acts as root without a password")
    finally:
        other.close()


def watched_logins(line: Line) -> tuple[Probe, ...]:
    """What our own login cannot tell: whether others still come in."""
    return tuple(_watched(line.of(line.end.of(one)), one.user) for one in line.end.watched)


def _watched(other: Line, user: str) -> Probe:
    name, who = f"login-{user}", f"new login as {user}"
    try:
        _logged_in(other)
    except TemperError as exc:
        return Probe(name, False, clean(f"{who}: {exc}", _LONGEST))
    else:
        return Probe(name, True, f"{who}: let in")
    finally:
        other.close()


def _logged_in(line: Line) -> None:
    """sshd is deaf for a moment while it is reloaded."""
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


def look(line: Line, lines: int) -> Look:
    said = line.run("look", str(lines))
    rows = [row.split("\t", 2) for row in said.text.splitlines()]
    probes = [_ASKED[name](name, code, why) for name, code, why in (r for r in rows if len(r) == 3 and r[0] in _ASKED)]
    logs = [(name, text) for kind, name, text in (r for r in rows if len(r) == 3 and r[0] == "log")]
    return Look(tuple(probes), tuple(logs))


def of_files(files: Files) -> tuple[Probe, ...]:
    found = health(files, int(time.time()) // _DAY)
    asked = {name for name, paths in _NEEDS.items() if any(files.state(path) is not None for path in paths)}
    if people(files).administrators():
        asked.add("administrator")
    return tuple(probe for probe in found if probe.name in asked)


_PROGRAMS = {"sshd": "sshd-starts", "visudo": "visudo"}
_ABSENT = "127"


def _programs(name: str, code: str, why: str) -> Probe:
    fine = f"{name} finds nothing wrong" if code == "0" else f"{name} is not there to be asked"
    ok = code in ("0", _ABSENT)
    return Probe(_PROGRAMS[name], ok, fine if ok else clean(f"{name} refuses its files: {why}", _LONGEST))


def _modules(_: str, missing: str, which: str) -> Probe:
    """PAM reads its files at the next login: what it cannot load then lets nobody in, or leaves a check out."""
    if missing == "0":
        return Probe("pam-modules", True, "what /etc/pam.d names is installed")
    return Probe("pam-modules", False, clean(f"/etc/pam.d names what is not installed: {which.strip()}", _LONGEST))


_ASKED: dict[str, Callable[[str, str, str], Probe]] = {"sshd": _programs, "visudo": _programs, "pam": _modules}
