"""sshd: its settings for all connections, and for each connection that a Match block selects."""

import re
from collections.abc import Mapping
from functools import cached_property, partial

from app.syntax import host_text, sshd
from app.syntax.host_files_protocol import Files
from app.syntax.sshd_effective_settings import compute_sshd_settings, detect_sshd_program
from app.syntax.sshd_keywords import IN_MATCH
from app.syntax.sshd_match import ConnectionSpec
from app.targets.effects import legal_notice_protection, sshd_option_strength
from app.targets.effects.choice_of_sshd_test_connections import NO_PORT, list_connection_per_match_combination
from app.targets.effects.daemon_base import Ask, Daemon, Query
from app.targets.effects.sshd_login_strictness import LOGINS, compare_logins, derive_login_requirements
from app.targets.effects.strictness_comparison import Strength
from app.targets.host_accounts import read_host_accounts
from app.targets.throwaway_sshd_host_key import HOST_KEY, get_sshd_check_key

_PROGRAM = "/usr/sbin/sshd"
_ACCOUNTS = ("/etc/passwd", "/etc/group")
_MOST_ASKED = 40
"""A query takes about 30 ms. Our parser decides cases beyond these."""
_OWN_ACCOUNT = "sshd"
_FREE = 64_000
"""An unused id."""
_KEYWORD = re.compile(r"[a-z0-9]+")
"""Other output of sshd begins with a file name."""
_NOTICE = "notice"
"""What the file that Banner names shows before a login."""
_SPLIT = ","
"""Separates the parts of a connection; a name that contains it cannot be queried."""


class Sshd(Daemon):
    name = "sshd"
    paired = True
    areas = ("/etc/ssh/", "/etc/crypto-policies/back-ends/opensshserver.config")

    def __init__(self, *sides: Files) -> None:
        """`sides` are both file sets of a comparison: cases of either are evaluated on both."""
        self._sides = sides

    def create_settings_reader_for_change(self, before: Files, after: Files) -> Daemon:
        return Sshd(before, after)

    def read_settings(self, files: Files) -> Mapping[str, str]:
        config, built = sshd.read_sshd_config(files), detect_sshd_program(files)
        found: dict[str, str] = {}
        for case, who in self._list_cases(files).items():
            found |= _label_and_derive_settings(compute_sshd_settings(config, built, who), case, who, files)
        return found

    def ask_settings(self, files: Files, ask: Ask) -> Mapping[str, str] | None:
        found: dict[str, str] = {}
        staged = (*sshd.read_sshd_config(files).paths, *_ACCOUNTS)
        for case, who in list(self._list_cases(files).items())[:_MOST_ASKED]:
            if any(_SPLIT in part for part in _list_connection_parts(who)):
                continue
            outcome = ask(files, _build_query(files, who, staged))
            if outcome is None or outcome.code != 0:
                return None
            found |= _label_and_derive_settings(parse_sshd_output(outcome.output), case, who, files)
        return found

    def compare_values(self, key: str, was: str, now: str) -> Strength:
        keyword = key.partition(" for ")[0]
        if keyword == _NOTICE:
            return Strength.STRONGER if not was else Strength.INCOMPARABLE if now else Strength.WEAKER
        compare = compare_logins if keyword in LOGINS else partial(sshd_option_strength.compare_keyword, keyword)
        return compare(was, now)

    def _list_cases(self, files: Files) -> dict[str, ConnectionSpec]:
        return self._cases_of_both_sides if self._sides else _list_cases(files)

    @cached_property
    def _cases_of_both_sides(self) -> dict[str, ConnectionSpec]:
        return _list_cases(*self._sides)


def _list_cases(*sides: Files) -> dict[str, ConnectionSpec]:
    return list_connection_per_match_combination(
        [sshd.read_sshd_config(side) for side in sides], read_host_accounts(sides[0])
    )


def _label_and_derive_settings(
    settings: Mapping[str, str], case: str, connection: ConnectionSpec, files: Files
) -> dict[str, str]:
    """Return the settings of a case, with those that follow from several together, or from another file."""
    derived = {
        **derive_login_requirements(settings, connection.user),
        _NOTICE: legal_notice_protection.read_notice_if_path_is_issue_or_motd(settings.get("banner", ""), files),
    }
    if not case:
        return {**settings, **derived}
    ours = {keyword: value for keyword, value in settings.items() if keyword in IN_MATCH}
    return {f"{keyword} for {case}": value for keyword, value in {**ours, **derived}.items()}


def _list_connection_parts(connection: ConnectionSpec) -> list[str]:
    parts = {"user": connection.user, "host": connection.host, "addr": connection.address}
    parts |= {"laddr": connection.localaddress, "lport": connection.localport or NO_PORT, "rdomain": connection.rdomain}
    return [f"{name}={value}" for name, value in parts.items() if value]


def _build_query(files: Files, connection: ConnectionSpec, staged_paths: tuple[str, ...]) -> Query:
    made = ((HOST_KEY, get_sshd_check_key()), *_build_passwd_and_group_for_connection(files, connection))
    arguments = ("-T", "-f", sshd.MAIN, "-h", HOST_KEY, "-C", _SPLIT.join(_list_connection_parts(connection)))
    return Query(_PROGRAM, arguments, staged_paths, made)


def _build_passwd_and_group_for_connection(files: Files, connection: ConnectionSpec) -> tuple[tuple[str, str], ...]:
    """Return passwd and group with sshd's own account, and with a matched user or group that is missing."""
    known = read_host_accounts(files)
    passwd, group = (host_text.read_text(files, path) or "" for path in _ACCOUNTS)
    wanted = [name for name in (_OWN_ACCOUNT, connection.user) if name and not known.find_account(name)]
    added = "".join(f"{name}:x:{_FREE + at}:{_FREE}::/:/usr/sbin/nologin\n" for at, name in enumerate(wanted))
    missing = sorted(connection.groups - known.list_groups(connection.user))
    joined = "".join(f"{name}:x:{_FREE + 1 + at}:{connection.user}\n" for at, name in enumerate(missing))
    return (("/etc/passwd", f"{added}{passwd}"), ("/etc/group", f"{group.rstrip()}\n{joined}"))


def parse_sshd_output(output: str) -> dict[str, str]:
    """Parse `sshd -T`: value by keyword; repeated keywords are joined."""
    found: dict[str, list[str]] = {}
    for line in output.split("\n"):
        keyword, _blank, value = line.partition(" ")
        if _KEYWORD.fullmatch(keyword):
            found.setdefault(keyword, []).append(value)
    return {keyword: " ".join(values) for keyword, values in found.items()}
