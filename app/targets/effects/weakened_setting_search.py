"""Finds settings that a change weakens, for every program whose files it touches."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from app.syntax.host_files_protocol import Files
from app.targets.effects.audit_rules import AuditRules
from app.targets.effects.auditd import Auditd
from app.targets.effects.crypto_policies import CryptoPolicies
from app.targets.effects.daemon_base import UNSET, Ask, Daemon
from app.targets.effects.dnf_settings import Dnf
from app.targets.effects.faillock import Faillock
from app.targets.effects.login_defs import LoginDefs
from app.targets.effects.modprobe_settings import Modprobe
from app.targets.effects.pam_limits import Limits
from app.targets.effects.pam_settings import Pam
from app.targets.effects.pwquality import Pwquality
from app.targets.effects.selinux import Selinux
from app.targets.effects.shell_profile import ShellProfile
from app.targets.effects.sshd import Sshd
from app.targets.effects.strictness_comparison import Strength
from app.targets.effects.sudo_rights_and_defaults import Sudo
from app.targets.effects.sysctl import ProcpsSysctl, SystemdSysctl
from app.targets.effects.too_strict_values import ReadSide, find_access_or_notice_objection, find_excess_objection
from app.targets.read_tracking_cache import ReadTrackingCache
from app.targets.subjects.file_edit_given_to_judges import Objection
from app.text.clean import clean_text

DAEMONS: Sequence[Daemon] = (
    *(Sshd(), CryptoPolicies(), Sudo(), Pam(), SystemdSysctl(), ProcpsSysctl(), Modprobe(), Auditd(), AuditRules()),
    *(LoginDefs(), Pwquality(), Faillock(), Limits(), ShellProfile(), Selinux(), Dnf()),
)


_FINE = (Strength.STRONGER, Strength.EQUAL)


@dataclass(frozen=True)
class SettingChange:
    """A setting that a program would use with another value than now."""

    daemon: Daemon
    key: str
    was: str
    now: str


def find_weakening_or_excess_objection(
    paths: Collection[str], before: Files, after: Files, asks: frozenset[str], cache: ReadTrackingCache | None = None
) -> Objection | None:
    """Return an objection if our parsers find a weakened or excessive setting, or a line that stops loading.

    `asks` permits settings such as "sshd clientaliveinterval 600".
    """
    for daemon in _list_touched_daemons(paths, before, after):
        if objection := daemon.find_load_objection(before, after):
            return objection
    read = partial(read_cached_settings, read_cache=cache or ReadTrackingCache())
    return (
        _find_weakening_objection(iterate_setting_changes(paths, before, after, read), asks)
        or find_excess_objection(_iterate_read_sides(paths, before, after, read), asks)
        or find_access_or_notice_objection(paths, before, after, asks)
    )


def find_weakening_objection_by_programs(
    paths: Collection[str], before: Files, after: Files, asks: frozenset[str], ask: Ask
) -> Objection | None:
    """Return an objection if the programs themselves, where available, report a weakened setting."""
    changes = iterate_setting_changes(paths, before, after, lambda daemon, side: daemon.ask_settings(side, ask))
    return _find_weakening_objection(changes, asks)


def read_cached_settings(daemon: Daemon, files: Files, read_cache: ReadTrackingCache) -> Mapping[str, str]:
    """Return the settings by our parsers, cached unless the daemon compares both sides."""
    if daemon.paired:
        return daemon.read_settings(files)  # the keys here depend on the other side too
    return read_cache.get_or_compute((daemon.name, "settings"), files, daemon.read_settings)


def _list_touched_daemons(paths: Collection[str], before: Files, after: Files) -> list[Daemon]:
    touched = (daemon for daemon in DAEMONS if any(path.startswith(daemon.areas) for path in paths))
    return [daemon.create_settings_reader_for_change(before, after) for daemon in touched]


def iterate_setting_changes(
    paths: Collection[str], before: Files, after: Files, read: Callable[[Daemon, Files], Mapping[str, str] | None]
) -> Iterator[SettingChange]:
    """Yield each setting with another value after the change, of every program that reads one of the files."""
    for side in _iterate_read_sides(paths, before, after, read):
        was, now = side.before, side.after
        for key in sorted(was.keys() | now.keys()):
            old, new = was.get(key, UNSET), now.get(key, UNSET)
            if old != new and not _equals_general_value(key, was, now):
                yield SettingChange(side.daemon, key, old, new)


def _iterate_read_sides(
    paths: Collection[str], before: Files, after: Files, read: Callable[[Daemon, Files], Mapping[str, str] | None]
) -> Iterator[ReadSide]:
    for daemon in _list_touched_daemons(paths, before, after):
        was, now = read(daemon, before), read(daemon, after)
        if was is not None and now is not None:
            yield ReadSide(daemon, was, now)


_PAM_SETTING = re.compile(r": pam_(\w+)\.so: (\w+)$")
"""A setting as a stack has it, which texts name by the module's file: pwquality retry."""


def _find_weakening_objection(changes: Iterable[SettingChange], asks: frozenset[str]) -> Objection | None:
    for one in changes:
        order = one.daemon.compare_values(one.key, one.was, one.now)
        if order not in _FINE and not _is_change_asked_by_rule(one, order, asks):
            would = f"{one.key} is {one.was or 'not set'} and would be {one.now or 'not set'}"
            how = "weaker" if order is Strength.WEAKER else "not known to be as strong"
            return Objection("weakening", clean_text(f"{one.daemon.name}: {would}, which is {how}.", 400))
    return None


def _is_change_asked_by_rule(change: SettingChange, strength: Strength, asks: frozenset[str]) -> bool:
    if strength is Strength.WEAKER and change.daemon.asked_only_if_unranked:
        return False
    module = _PAM_SETTING.search(change.key)
    names = [f"{change.daemon.name} {change.key}", *([f"{module[1]} {module[2]}"] if module else [])]
    return any(f"{name} {change.now}" in asks for name in names)


def _equals_general_value(key: str, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Return True if a conditional setting equals the general one on both sides; the general one is reported."""
    of_all, _for, some = key.partition(" for ")
    return bool(some) and all(side.get(key, UNSET) == side.get(of_all) for side in (before, after))
