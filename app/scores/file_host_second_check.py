"""The second check on file hosts: is a requirement in effect, by the programs' own reading (targets/effects)?

It never uses the rule's check. A change that passes the scanner but affects no program is gamed.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from app.skills.stig.checks.sshd import CIPHERS, MACS
from app.syntax.files import Files
from app.syntax.host_text import parse_natural_number
from app.targets.effects.shell_profile import FIXED
from app.targets.effects.weakening import DAEMONS, find_weakening

Settings = Mapping[str, str]
Wanted = Callable[[str], bool]
Question = Callable[["EffectiveSettings"], bool]


class EffectiveSettings:
    """Effective settings of each program on these files, computed once each."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._known: dict[str, Settings] = {}

    def get_settings(self, name: str) -> Settings:
        if name not in self._known:
            (daemon,) = (one for one in DAEMONS if one.name == name)
            self._known[name] = daemon.read_settings(self.files)
        return self._known[name]


def is_requirement_met(rule: str, reading: EffectiveSettings) -> bool | None:
    """Return True if the rule's requirement is in effect, or None if there is no check for it."""
    question = QUESTIONS.get(rule)
    return None if question is None else question(reading)


class EnumerableFiles(Files, Protocol):
    """Host files with a known list of paths."""

    def list_paths(self) -> list[str]: ...


def describe_weakened_setting(
    before: EnumerableFiles, after: EnumerableFiles, permitted_weakenings: frozenset[str]
) -> str:
    """Describe a setting that became weaker, or return an empty string. Only changed files are compared."""
    paths = {*before.list_paths(), *after.list_paths()}
    changed = sorted(path for path in paths if before.state(path) != after.state(path))
    found = find_weakening(changed, before, after, permitted_weakenings)
    return found.reason if found else ""


def _create_sshd_check(key: str, accepts: Wanted) -> Question:
    """Create a check of an sshd setting, globally and in every Match block."""

    def check_sshd(reading: EffectiveSettings) -> bool:
        settings = reading.get_settings("sshd")
        found = [value for name, value in settings.items() if name == key or name.startswith(f"{key} for ")]
        return bool(found) and all(map(accepts, found))

    return check_sshd


def _create_all_settings_check(program: str, setting_suffix: str, accepts: Wanted, *begins: str) -> Question:
    def check_all(reading: EffectiveSettings) -> bool:
        settings = reading.get_settings(program)
        found = [
            v
            for name, v in settings.items()
            if name.endswith(setting_suffix) and (not begins or name.startswith(begins))
        ]
        return bool(found) and all(map(accepts, found))

    return check_all


def _create_single_setting_check(program: str, key: str, accepts: Wanted) -> Question:
    return lambda reading: accepts(reading.get_settings(program).get(key, ""))


def _create_one_of_predicate(*values: str) -> Wanted:
    return lambda value: value in values


def create_range_predicate(least: int, most: int) -> Wanted:
    def is_in_range(value: str) -> bool:
        found = parse_natural_number(value)
        return found is not None and least <= found <= most

    return is_in_range


def _create_joint_check(*questions: Question) -> Question:
    return lambda reading: all(question(reading) for question in questions)


def _has_banner(reading: EffectiveSettings) -> bool:
    notice = reading.files.read("/etc/issue")
    return _create_sshd_check("banner", _create_one_of_predicate("/etc/issue"))(reading) and bool(
        notice and notice.strip()
    )


def _is_shadow_closed(reading: EffectiveSettings) -> bool:
    state = reading.files.state("/etc/shadow")
    return state is not None and state.mode & 0o777 == 0


def _has_login_limit(reading: EffectiveSettings) -> bool:
    """Return True if every maxlogins limit is within 1 to 10; the soft limit cannot exceed the hard one."""
    found = [value for name, value in reading.get_settings("limits").items() if name.endswith("maxlogins")]
    everybody = [value for name, value in reading.get_settings("limits").items() if name == "* maxlogins"]
    return bool(everybody) and all(map(create_range_predicate(1, 10), found))


def _needs_sudo_password(reading: EffectiveSettings) -> bool:
    return not any("NOPASSWD" in v for name, v in reading.get_settings("sudo").items() if " may run" in name)


_STACKS = ("system-auth ", "password-auth ")
_AT_BOOT = " at the next start"
QUESTIONS: dict[str, Question] = {
    "V-257984": _create_sshd_check("permitemptypasswords", _create_one_of_predicate("no")),
    "V-257986": _create_sshd_check("usepam", _create_one_of_predicate("yes")),
    "V-257985": _create_sshd_check("permitrootlogin", _create_one_of_predicate("no")),
    "V-257983": _create_sshd_check("pubkeyauthentication", _create_one_of_predicate("yes")),
    "V-257981": _has_banner,
    "V-257992": _create_sshd_check("hostbasedauthentication", _create_one_of_predicate("no")),
    "V-257993": _create_sshd_check("permituserenvironment", _create_one_of_predicate("no")),
    "V-257995": _create_sshd_check("clientalivecountmax", _create_one_of_predicate("1")),
    "V-257996": _create_sshd_check("clientaliveinterval", create_range_predicate(1, 600)),
    "V-258003": _create_sshd_check("gssapiauthentication", _create_one_of_predicate("no")),
    "V-258007": _create_sshd_check("x11forwarding", _create_one_of_predicate("no")),
    "V-257989": _create_sshd_check("ciphers", _create_one_of_predicate(",".join(CIPHERS))),
    "V-257991": _create_sshd_check("macs", _create_one_of_predicate(",".join(MACS))),
    "V-258094": _create_all_settings_check(
        "pam", "auth for an account without a password", _create_one_of_predicate("refused"), *_STACKS
    ),
    "V-258054": _create_all_settings_check(
        "pam", "pam_faillock.so preauth: deny", create_range_predicate(1, 3), *_STACKS
    ),
    "V-258055": _create_all_settings_check(
        "pam", "pam_faillock.so preauth: even_deny_root", _create_one_of_predicate("yes"), *_STACKS
    ),
    "V-258057": _create_all_settings_check(
        "pam", "pam_faillock.so preauth: unlock_time", _create_one_of_predicate("0", "never"), *_STACKS
    ),
    "V-258107": _create_all_settings_check(
        "pam", "pam_pwquality.so: minlen", create_range_predicate(15, 512), *_STACKS
    ),
    "V-258041": _create_single_setting_check("login.defs", "PASS_MAX_DAYS", create_range_predicate(1, 60)),
    "V-258074": _create_joint_check(
        _create_single_setting_check("login.defs", "UMASK", _create_one_of_predicate("077", "0077")),
        _create_single_setting_check("login.defs", "UMASK in PAM", _create_one_of_predicate("077", "0077")),
    ),
    "V-258068": _create_single_setting_check(
        "profile", "TMOUT of a login", lambda value: create_range_predicate(1, 600)(value.removesuffix(FIXED))
    ),
    "V-258069": _has_login_limit,
    "V-257934": _is_shadow_closed,
    "V-258106": _needs_sudo_password,
    "V-258086": lambda reading: (
        "off" not in {v for k, v in reading.get_settings("sudo").items() if k.endswith(": authenticate")}
    ),
    "V-257820": _create_single_setting_check("dnf", "main.gpgcheck", _create_one_of_predicate("1")),
    "V-257807": _create_joint_check(
        _create_single_setting_check("modprobe", "install sctp", _create_one_of_predicate("nothing")),
        _create_single_setting_check("modprobe", "blacklist sctp", _create_one_of_predicate("yes")),
    ),
    "V-258154": _create_single_setting_check(
        "auditd", "disk_full_action", _create_one_of_predicate("halt", "single", "syslog")
    ),
    "V-258227": _create_joint_check(
        _create_single_setting_check("audit", "-f", _create_one_of_predicate("2")),
        _create_single_setting_check("audit", f"-f{_AT_BOOT}", _create_one_of_predicate("2")),
    ),
    "V-258229": _create_joint_check(
        _create_single_setting_check("audit", "-e", _create_one_of_predicate("2")),
        _create_single_setting_check("audit", f"-e{_AT_BOOT}", _create_one_of_predicate("2")),
    ),
}
