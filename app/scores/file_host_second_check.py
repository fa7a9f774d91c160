"""The second check on file hosts: is a requirement in effect, by the programs' own reading (targets/effects)?

It never uses the rule's check. A change that passes the scanner but affects no program is gamed.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from app.skills.stig.checks.sshd import CIPHERS, MACS
from app.syntax.host_files_protocol import Files
from app.syntax.host_text import create_range_predicate
from app.targets.effects.shell_profile import FIXED
from app.targets.effects.weakened_setting_search import DAEMONS, find_weakening_or_excess_objection

Settings = Mapping[str, str]
Wanted = Callable[[str], bool]
Question = Callable[["EffectiveSettings"], bool]
_STACKS = ("system-auth ", "password-auth ")


class _Requirement(msgspec.Struct):
    program: str
    setting: str
    values: tuple[str, ...] = ()
    between: tuple[int, int] | None = None


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


def find_whether_requirement_is_met(rule: str, reading: EffectiveSettings) -> bool | None:
    """Return True if the rule's requirement is in effect, or None if there is no check for it."""
    question = QUESTIONS.get(rule)
    return None if question is None else question(reading)


class EnumerableFiles(Files, Protocol):
    """Host files with a known list of paths."""

    def list_paths(self) -> list[str]: ...


def describe_weakening_or_excess(
    before: EnumerableFiles, after: EnumerableFiles, permitted_weakenings: frozenset[str]
) -> str:
    """Describe a setting that became weaker, or return an empty string. Only changed files are compared."""
    paths = {*before.list_paths(), *after.list_paths()}
    changed = sorted(path for path in paths if before.state(path) != after.state(path))
    found = find_weakening_or_excess_objection(changed, before, after, permitted_weakenings)
    return found.reason if found else ""


def _create_every_value_check(program: str, is_named: Callable[[str], bool], accepts: Wanted) -> Question:
    """Create a check that a program has settings of these names, and each of them an accepted value."""

    def check_values(reading: EffectiveSettings) -> bool:
        found = [value for name, value in reading.get_settings(program).items() if is_named(name)]
        return bool(found) and all(map(accepts, found))

    return check_values


def _create_sshd_check(key: str, accepts: Wanted) -> Question:
    """Create a check of an sshd setting, globally and in every Match block."""
    return _create_every_value_check("sshd", lambda name: name == key or name.startswith(f"{key} for "), accepts)


def _create_pam_check(setting: str, accepts: Wanted) -> Question:
    """Create a check of a setting in both stacks."""
    return _create_every_value_check("pam", lambda name: name.endswith(setting) and name.startswith(_STACKS), accepts)


def _create_single_setting_check(program: str, key: str, accepts: Wanted) -> Question:
    return lambda reading: accepts(reading.get_settings(program).get(key, ""))


def _create_one_of_predicate(*values: str) -> Wanted:
    return lambda value: value in values


def _create_check(requirement: _Requirement) -> Question:
    between, setting = requirement.between, requirement.setting
    accepts = create_range_predicate(*between) if between else _create_one_of_predicate(*requirement.values)
    if requirement.program == "sshd":
        return _create_sshd_check(setting, accepts)
    if requirement.program == "pam":
        return _create_pam_check(setting, accepts)
    return _create_single_setting_check(requirement.program, setting, accepts)


def _create_joint_check(requirements: Iterable[_Requirement]) -> Question:
    questions = tuple(map(_create_check, requirements))
    return lambda reading: all(question(reading) for question in questions)


def _has_filled_issue_file_banner(reading: EffectiveSettings) -> bool:
    notice = reading.files.read("/etc/issue")
    return _create_sshd_check("banner", _create_one_of_predicate("/etc/issue"))(reading) and bool(
        notice and notice.strip()
    )


def _is_shadow_mode_zero(reading: EffectiveSettings) -> bool:
    state = reading.files.state("/etc/shadow")
    return state is not None and state.mode & 0o777 == 0


def _has_login_limit(reading: EffectiveSettings) -> bool:
    """Return True if every maxlogins limit is within 1 to 10; the soft limit cannot exceed the hard one."""
    settings = reading.get_settings("limits")
    found = [value for name, value in settings.items() if name.endswith("maxlogins")]
    return "* maxlogins" in settings and all(map(create_range_predicate(1, 10), found))


def _has_no_sudo_nopasswd_rule(reading: EffectiveSettings) -> bool:
    return not any("NOPASSWD" in v for name, v in reading.get_settings("sudo").items() if " may run" in name)


_REQUIREMENTS = msgspec.toml.decode(
    Path(__file__).with_name("file_host_requirements.toml").read_bytes(), type=dict[str, tuple[_Requirement, ...]]
)
QUESTIONS: dict[str, Question] = {
    **{rule: _create_joint_check(requirements) for rule, requirements in _REQUIREMENTS.items()},
    "V-257981": _has_filled_issue_file_banner,
    "V-257989": _create_sshd_check("ciphers", _create_one_of_predicate(",".join(CIPHERS))),
    "V-257991": _create_sshd_check("macs", _create_one_of_predicate(",".join(MACS))),
    "V-258068": _create_single_setting_check(
        "profile", "TMOUT of a login", lambda value: create_range_predicate(1, 600)(value.removesuffix(FIXED))
    ),
    "V-258069": _has_login_limit,
    "V-257934": _is_shadow_mode_zero,
    "V-258106": _has_no_sudo_nopasswd_rule,
    "V-258086": lambda reading: (
        "off" not in {v for k, v in reading.get_settings("sudo").items() if k.endswith(": authenticate")}
    ),
}
