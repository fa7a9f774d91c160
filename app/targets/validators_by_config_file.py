"""The files that are checked before a write: by which of our parsers, and by which program with which question."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from app.syntax import host_text, key_value_config_parsers, pam, sshd, sudoers
from app.syntax.host_files_protocol import Files
from app.syntax.setting import BadSetting
from app.targets.effects import crypto_policies, dnf_settings
from app.targets.throwaway_sshd_host_key import HOST_KEY
from app.text.clean import clean_text

_AUDITD = "/etc/audit/auditd.conf"
_STACKS = ("system-auth", "password-auth", "common-auth", "common-account", "common-password", "common-session")
_ACCOUNTS = ("/etc/passwd", "/etc/group")
_LOGROTATE, _RSYSLOG, UNITS = "/etc/logrotate.conf", "/etc/rsyslog.conf", "/etc/systemd/system/"
_CHRONY = (
    ("/etc/chrony.conf", "/etc/chrony.d/"),
    ("/etc/chrony/chrony.conf", "/etc/chrony/conf.d/", "/etc/chrony/sources.d/"),
)
_NFTABLES = (("/etc/sysconfig/nftables.conf", "/etc/nftables/"), ("/etc/nftables.conf", "/etc/nftables.conf.d/"))
"""The file that the program loads, and the folders beside it, on RHEL and on Debian."""

_POLICY_LINE = re.compile(r"[A-Za-z_]\w*(?:@\S*(?: *, *\S+\})?)? *=", re.ASCII)


def _find_no_problems(_: Files) -> list[BadSetting]:
    return []


@dataclass(frozen=True)
class CheckedFiles:
    """Files of one program, and how to check that the program still accepts them."""

    areas: tuple[str, ...]
    problems: Callable[[Files], Collection[BadSetting]] = _find_no_problems
    program: str | None = None
    arguments: tuple[str, ...] = ()
    staged: tuple[str, ...] = ()
    """Files of the host that the program needs for the check."""
    faults: re.Pattern[str] | None = None
    """Lines that are faults, for programs that go on after one. None if the exit code says it all."""
    names_units: bool = False
    """Whether the arguments end with the units whose files change."""


def _find_pam_problems(files: Files) -> list[BadSetting]:
    """Return the problems of all stacks. Stacks of another family are absent both before and after the change."""
    return [
        problem for name in _STACKS for problem in pam.read_stack_with_includes(files, f"{pam.FOLDER}/{name}").problems
    ]


def _find_auditd_problems(files: Files) -> list[BadSetting]:
    text = host_text.read_text(files, _AUDITD)
    return [] if text is None else key_value_config_parsers.parse_auditd_with_problems(text, _AUDITD)[1]


def _find_dnf_problems(files: Files) -> list[BadSetting]:
    """Return lines with which dnf refuses to run, or drops a whole file of repositories."""
    return [
        BadSetting(f"dnf cannot read {clean_text(line, 80)!r}", path, number)
        for pattern in (dnf_settings.MAIN, dnf_settings.REPOS)
        for path in files.glob(pattern)
        for number, line in key_value_config_parsers.list_lines_dnf_rejects(host_text.read_text(files, path) or "")
    ]


def _find_crypto_policy_problems(files: Files) -> list[BadSetting]:
    """Return lines of crypto policies that are no settings: update-crypto-policies gives up at the first."""
    return [
        BadSetting(f"a crypto policy has no line {clean_text(line, 80)!r}", path, number)
        for path in files.glob(f"{crypto_policies.MODULES[0]}*.pmod")
        for number, line in host_text.number_lines((host_text.read_text(files, path) or "").replace("\\\n", " "))
        if (text := line.partition("#")[0].strip()) and not _POLICY_LINE.match(text)
    ]


def _to_path_patterns(paths_and_folders: Collection[str]) -> tuple[str, ...]:
    return tuple(f"{area}*" if area.endswith("/") else area for area in paths_and_folders)


CHECKED_FILES = (
    CheckedFiles(
        ("/etc/ssh/sshd_config", "/etc/crypto-policies/back-ends/"),
        lambda files: sshd.read_sshd_config(files).problems,
        "/usr/sbin/sshd",
        ("-t", "-f", sshd.MAIN, "-h", HOST_KEY),
        (sshd.MAIN, "/etc/ssh/sshd_config.d/*", "/etc/crypto-policies/back-ends/*", *_ACCOUNTS),
    ),
    CheckedFiles(
        ("/etc/sudoers",),
        lambda files: sudoers.read_sudoers(files).problems,
        "/usr/sbin/visudo",
        ("-cf", sudoers.MAIN),
        (sudoers.MAIN, "/etc/sudoers.d/*", *_ACCOUNTS),
    ),
    CheckedFiles(("/etc/pam.d/",), _find_pam_problems),
    CheckedFiles((_AUDITD,), _find_auditd_problems),
    CheckedFiles((dnf_settings.MAIN, "/etc/yum.repos.d/"), _find_dnf_problems),
    CheckedFiles((crypto_policies.MODULES[0],), _find_crypto_policy_problems),
    CheckedFiles(
        (_RSYSLOG, "/etc/rsyslog.d/"),
        program="/usr/sbin/rsyslogd",
        arguments=("-N1", "-f", _RSYSLOG),
        staged=(_RSYSLOG, "/etc/rsyslog.d/*", *_ACCOUNTS),
        faults=re.compile(r"rsyslogd: (?!version|End of config)(?P<text>.*)"),
    ),
    CheckedFiles(
        (_LOGROTATE, "/etc/logrotate.d/"),
        program="/usr/sbin/logrotate",
        arguments=("-d", "-s", "/tmp/none", _LOGROTATE),  # noqa: S108 (of the sandbox; with -d nothing is written)
        staged=(_LOGROTATE, "/etc/logrotate.d/*", *_ACCOUNTS),
        faults=re.compile(r"error: (?P<text>(?!stat of |.*: (?:No such file|Permission denied)).*)"),
    ),
    *(
        CheckedFiles(
            areas,
            program="/usr/sbin/chronyd",
            arguments=("-p", "-f", areas[0]),
            staged=(*_to_path_patterns(areas), *_ACCOUNTS),
            faults=re.compile(r".*Fatal error : (?P<text>(?!Could not open).*)"),
        )
        for areas in _CHRONY
    ),
    *(
        CheckedFiles(
            areas,
            program="/usr/sbin/nft",
            arguments=("-c", "-f", areas[0]),
            staged=_to_path_patterns(areas),
            # It may not ask this kernel; until then it has read everything.
            faults=re.compile(r"(?P<text>/etc/\S+: Error: (?!Could not process rule: Operation not permitted).*)"),
        )
        for areas in _NFTABLES
    ),
    CheckedFiles(
        (UNITS,),
        program="/usr/bin/systemd-analyze",
        arguments=("verify", "--man=no"),
        staged=(f"{UNITS}*", f"{UNITS}*.d/*", *_ACCOUNTS),
        faults=re.compile(
            r"(?P<text>/etc/systemd/\S+:[0-9]+: .*"
            r"|.*(?:bad unit file setting|failed to load properly|Refusing|fatal error).*)"
        ),
        names_units=True,
    ),
)
