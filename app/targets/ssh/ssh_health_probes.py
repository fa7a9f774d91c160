"""Health probes of a host over SSH: a new login and sudo, the host's programs, and its files."""

import threading
import time
from collections.abc import Callable

import msgspec

from app.errors import ConnectionLost, TemperError
from app.events.event_field_types import Probe
from app.syntax.host_files_protocol import Files
from app.targets.health_probes import run_health_probes
from app.targets.host_accounts import read_host_accounts
from app.targets.questions.probe_answer import DiskUsage
from app.targets.running_settings_report import InForceReport, compare_running, list_stated_sysctl_names
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.health_probes_by_host_programs import KnownAnswers, probe_programs_and_disk
from app.text.clean import clean_text

_LONGEST = 300
_DAY = 86400
_DEAF = 2.0
_SECONDS = 60.0
_NEEDS = {
    "accounts": ("/etc/shadow",),
    "sudoers": ("/etc/sudoers",),
    "sshd-config": ("/etc/ssh/sshd_config",),
    "pam": ("/etc/pam.d/system-auth", "/etc/pam.d/common-auth", "/etc/pam.d/common-account"),
    "password-change": ("/etc/pam.d/system-auth", "/etc/pam.d/common-password"),
    "backup-login": ("/etc/mission/backup.conf",),
    "mission-config": ("/etc/mission/mission.conf",),
    "mission-inbox": ("/etc/mission/mission.conf",),
}
"""A file probe runs only if one of its files exists."""

_TRIED = {"agent-login", "agent-sudo"}
"""Replaced by a real login."""


def probe_new_login_and_sudo(connection: SshConnection) -> tuple[Probe, Probe]:
    """Probe login and sudo over a new connection; the open one proves nothing."""
    other = connection.create_fresh_login_connection()
    who = f"new login as {connection.end.user} for the agent itself"
    try:
        if why := _run_and_explain_failure(connection, lambda: _log_in_with_retry(other)):
            refused = Probe("agent-login", False, clean_text(f"{who}: {why}", _LONGEST))
            return refused, Probe("agent-sudo", False, "nobody can log in to try")
        let_in = Probe("agent-login", True, f"{who}: let in")
        if why := _run_and_explain_failure(connection, other.become_root):
            return let_in, Probe("agent-sudo", False, clean_text(why, _LONGEST))
        return let_in, Probe("agent-sudo", True, f"{connection.end.user} acts as root without a password")
    finally:
        other.close()


def _run_and_explain_failure(connection: SshConnection, attempt: Callable[[], None]) -> str:
    """Run `attempt` and return its error, or "". Raise instead if the main connection is lost."""
    try:
        attempt()
    except TemperError as exc:
        connection.assert_alive()
        return str(exc)
    return ""


def probe_watched_logins(connection: SshConnection) -> tuple[Probe, ...]:
    others = map(connection.create_connection_as, connection.end.logins[1:])
    return tuple(_probe_watched_login(connection, other) for other in others)


def _probe_watched_login(connection: SshConnection, other: SshConnection) -> Probe:
    name, who = f"login-{other.end.user}", f"new login as {other.end.user}"
    try:
        why = _run_and_explain_failure(connection, lambda: _log_in_with_retry(other))
        return Probe(name, not why, clean_text(f"{who}: {why}", _LONGEST) if why else f"{who}: let in")
    finally:
        other.close()


def _log_in_with_retry(connection: SshConnection) -> None:
    """Log in; retry for two seconds, because sshd refuses connections while it reloads."""
    until = time.monotonic() + _DEAF
    while True:
        try:
            connection.log_in()
        except ConnectionLost:
            if time.monotonic() > until:
                raise
            threading.Event().wait(0.05)
        else:
            return


def read_host_logs(connection: SshConnection, lines: int) -> tuple[tuple[str, str], ...]:
    return tuple(connection.run("look", str(lines)).report.get_rows("log"))


def probe_health_by_programs_else_files(
    connection: SshConnection, files: Files, known: KnownAnswers
) -> tuple[Probe, ...]:
    """Return program probes, and file probes for the names that these do not cover."""
    own, fill = probe_programs_and_disk(connection, files, known)
    names = {probe.name for probe in own}
    read = {probe.name: probe for probe in probe_files(files, fill)}
    return (
        *(_replace_unasked_probe(probe, read.get(probe.name)) for probe in own),
        *(probe for name, probe in read.items() if name not in names),
    )


def _replace_unasked_probe(probe: Probe, file_probe: Probe | None) -> Probe:
    """Replace a probe that could not be asked by our reading of the files. It still counts as not asked."""
    if probe.asked is not False or file_probe is None:
        return probe
    detail = clean_text(f"{probe.detail}; {file_probe.detail}", _LONGEST)
    return msgspec.structs.replace(file_probe, asked=False, detail=detail)


def probe_files(files: Files, audit_disk: DiskUsage | None = None) -> tuple[Probe, ...]:
    found = run_health_probes(files, int(time.time()) // _DAY, audit_disk)
    no_use = {name for name, paths in _NEEDS.items() if not any(files.state(path) is not None for path in paths)}
    if not read_host_accounts(files).list_other_administrators():
        no_use.add("administrator")
    return tuple(probe for probe in found if probe.name not in no_use | _TRIED)


def read_running_state(connection: SshConnection, files: Files) -> InForceReport:
    said = connection.run("running", *list_stated_sysctl_names(files), seconds=_SECONDS)
    return compare_running(files, said.report.rows)
