"""The second check on file hosts: is a requirement in effect, by the programs' own reading (targets/effects)?

It never uses the rule's check. A change that passes the scanner but affects no program is gamed.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from app.skills.stig.checks.crypto import CIPHERS, MACS
from app.syntax.files import Files
from app.syntax.source import number
from app.targets.effects.catalog import DAEMONS
from app.targets.effects.judged import by_our_reading
from app.targets.effects.profile import FIXED

Settings = Mapping[str, str]
Wanted = Callable[[str], bool]
Question = Callable[["HostReading"], bool]


class HostReading:
    """Effective settings of each program on these files, computed once each."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._known: dict[str, Settings] = {}

    def of(self, name: str) -> Settings:
        if name not in self._known:
            (daemon,) = (one for one in DAEMONS if one.name == name)
            self._known[name] = daemon.settings(self.files)
        return self._known[name]


def met(rule: str, reading: HostReading) -> bool | None:
    """Return True if the rule's requirement is in effect, or None if there is no check for it."""
    question = QUESTIONS.get(rule)
    return None if question is None else question(reading)


class Listed(Files, Protocol):
    """Host files with a known list of paths."""

    def paths(self) -> list[str]: ...


def weakened(before: Listed, after: Listed, asks: frozenset[str]) -> str:
    """Describe a setting that became weaker, or return an empty string. Only changed files are compared."""
    paths = {*before.paths(), *after.paths()}
    changed = sorted(path for path in paths if before.state(path) != after.state(path))
    found = by_our_reading(changed, before, after, asks)
    return found.reason if found else ""


def _sshd(key: str, wanted: Wanted) -> Question:
    """Create a check of an sshd setting, globally and in every Match block."""

    def question(reading: HostReading) -> bool:
        settings = reading.of("sshd")
        found = [value for name, value in settings.items() if name == key or name.startswith(f"{key} for ")]
        return bool(found) and all(map(wanted, found))

    return question


def _all(program: str, ends: str, wanted: Wanted, *begins: str) -> Question:
    def question(reading: HostReading) -> bool:
        settings = reading.of(program)
        found = [v for name, v in settings.items() if name.endswith(ends) and (not begins or name.startswith(begins))]
        return bool(found) and all(map(wanted, found))

    return question


def _one(program: str, key: str, wanted: Wanted) -> Question:
    return lambda reading: wanted(reading.of(program).get(key, ""))


def _is(*values: str) -> Wanted:
    return lambda value: value in values


def _within(least: int, most: int) -> Wanted:
    def wanted(value: str) -> bool:
        found = number(value)
        return found is not None and least <= found <= most

    return wanted


def _both(*questions: Question) -> Question:
    return lambda reading: all(question(reading) for question in questions)


def _banner(reading: HostReading) -> bool:
    notice = reading.files.read("/etc/issue")
    return _sshd("banner", _is("/etc/issue"))(reading) and bool(notice and notice.strip())


def _closed(reading: HostReading) -> bool:
    state = reading.files.state("/etc/shadow")
    return state is not None and state.mode & 0o777 == 0


def _logins(reading: HostReading) -> bool:
    """Return True if every maxlogins limit is within 1 to 10; the soft limit cannot exceed the hard one."""
    found = [value for name, value in reading.of("limits").items() if name.endswith("maxlogins")]
    everybody = [value for name, value in reading.of("limits").items() if name == "* maxlogins"]
    return bool(everybody) and all(map(_within(1, 10), found))


def _asked_for_a_password(reading: HostReading) -> bool:
    return not any("NOPASSWD" in v for name, v in reading.of("sudo").items() if " may run" in name)


_STACKS = ("system-auth ", "password-auth ")
_AT_BOOT = " at the next start"
QUESTIONS: dict[str, Question] = {
    "V-257984": _sshd("permitemptypasswords", _is("no")),
    "V-257986": _sshd("usepam", _is("yes")),
    "V-257985": _sshd("permitrootlogin", _is("no")),
    "V-257983": _sshd("pubkeyauthentication", _is("yes")),
    "V-257981": _banner,
    "V-257992": _sshd("hostbasedauthentication", _is("no")),
    "V-257993": _sshd("permituserenvironment", _is("no")),
    "V-257995": _sshd("clientalivecountmax", _is("1")),
    "V-257996": _sshd("clientaliveinterval", _within(1, 600)),
    "V-258003": _sshd("gssapiauthentication", _is("no")),
    "V-258007": _sshd("x11forwarding", _is("no")),
    "V-257989": _sshd("ciphers", _is(",".join(CIPHERS))),
    "V-257991": _sshd("macs", _is(",".join(MACS))),
    "V-258094": _all("pam", "auth for an account without a password", _is("refused"), *_STACKS),
    "V-258054": _all("pam", "pam_faillock.so preauth: deny", _within(1, 3), *_STACKS),
    "V-258055": _all("pam", "pam_faillock.so preauth: even_deny_root", _is("yes"), *_STACKS),
    "V-258057": _all("pam", "pam_faillock.so preauth: unlock_time", _is("0", "never"), *_STACKS),
    "V-258107": _all("pam", "pam_pwquality.so: minlen", _within(15, 512), *_STACKS),
    "V-258041": _one("login.defs", "PASS_MAX_DAYS", _within(1, 60)),
    "V-258074": _both(
        _one("login.defs", "UMASK", _is("077", "0077")), _one("login.defs", "UMASK in PAM", _is("077", "0077"))
    ),
    "V-258068": _one("profile", "TMOUT of a login", lambda value: _within(1, 600)(value.removesuffix(FIXED))),
    "V-258069": _logins,
    "V-257934": _closed,
    "V-258106": _asked_for_a_password,
    "V-258086": lambda reading: "off" not in {v for k, v in reading.of("sudo").items() if k.endswith(": authenticate")},
    "V-257820": _one("dnf", "main.gpgcheck", _is("1")),
    "V-257807": _both(_one("modprobe", "install sctp", _is("nothing")), _one("modprobe", "blacklist sctp", _is("yes"))),
    "V-258154": _one("auditd", "disk_full_action", _is("halt", "single")),
    "V-258227": _both(_one("audit", "-f", _is("2")), _one("audit", f"-f{_AT_BOOT}", _is("2"))),
    "V-258229": _both(_one("audit", "-e", _is("2")), _one("audit", f"-e{_AT_BOOT}", _is("2"))),
}
