"""Finds settings that a change weakens, for every program whose files it touches."""

from collections.abc import Collection, Mapping, Sequence

from app.syntax.files import Files
from app.targets.effects.audit_rules import AuditRules
from app.targets.effects.auditd import Auditd
from app.targets.effects.crypto_policies import CryptoPolicies
from app.targets.effects.daemon import UNSET, Ask, Daemon
from app.targets.effects.dnf import Dnf
from app.targets.effects.faillock import Faillock
from app.targets.effects.limits import Limits
from app.targets.effects.login_defs import LoginDefs
from app.targets.effects.modprobe_settings import Modprobe
from app.targets.effects.pam_settings import Pam
from app.targets.effects.profile import ShellProfile
from app.targets.effects.pwquality import Pwquality
from app.targets.effects.selinux import Selinux
from app.targets.effects.sshd import Sshd
from app.targets.effects.strength import Strength
from app.targets.effects.sudo import Sudo
from app.targets.effects.sysctl import ProcpsSysctl, SystemdSysctl
from app.targets.read_tracking_cache import ReadTrackingCache
from app.targets.subjects.file_edit import Objection
from app.text.clean import clean_text

DAEMONS: Sequence[Daemon] = (
    Sshd(),
    CryptoPolicies(),
    Sudo(),
    Pam(),
    SystemdSysctl(),
    ProcpsSysctl(),
    Modprobe(),
    Auditd(),
    AuditRules(),
    LoginDefs(),
    Pwquality(),
    Faillock(),
    Limits(),
    ShellProfile(),
    Selinux(),
    Dnf(),
)


_FINE = (Strength.STRONGER, Strength.EQUAL)


def find_weakening(
    paths: Collection[str], before: Files, after: Files, asks: frozenset[str], recall: ReadTrackingCache | None = None
) -> Objection | None:
    """Return an objection if our parsers find a weakened setting; `asks` permits "sshd clientaliveinterval 600"."""
    known = recall or ReadTrackingCache()
    found = (
        _find_loss(
            daemon, read_cached_settings(daemon, before, known), read_cached_settings(daemon, after, known), asks
        )
        for daemon in _list_touched_daemons(paths, before, after)
    )
    return next(filter(None, found), None)


def find_weakening_by_programs(
    paths: Collection[str], before: Files, after: Files, asks: frozenset[str], ask: Ask
) -> Objection | None:
    """Return an objection if the programs themselves, where available, report a weakened setting."""
    for daemon in _list_touched_daemons(paths, before, after):
        was, now = daemon.ask_settings(before, ask), daemon.ask_settings(after, ask)
        if was is not None and now is not None and (found := _find_loss(daemon, was, now, asks)):
            return found
    return None


def read_cached_settings(daemon: Daemon, files: Files, recall: ReadTrackingCache) -> Mapping[str, str]:
    """Return the settings by our parsers, cached unless the daemon compares both sides."""
    if daemon.paired:
        return daemon.read_settings(files)  # the keys here depend on the other side too
    return recall.get_or_compute((daemon.name, "settings"), files, daemon.read_settings)


def _list_touched_daemons(paths: Collection[str], before: Files, after: Files) -> list[Daemon]:
    touched = (daemon for daemon in DAEMONS if any(path.startswith(daemon.areas) for path in paths))
    return [daemon.with_both_sides(before, after) for daemon in touched]


def _find_loss(
    daemon: Daemon, before: Mapping[str, str], after: Mapping[str, str], asks: frozenset[str]
) -> Objection | None:
    for key in sorted(before.keys() | after.keys()):
        was, now = before.get(key, UNSET), after.get(key, UNSET)
        order = daemon.compare_values(key, was, now) if was != now else Strength.EQUAL
        if (
            order not in _FINE
            and f"{daemon.name} {key} {now}" not in asks
            and not _follows_general_value(key, before, after)
        ):
            would = f"{key} is {was or 'not set'} and would be {now or 'not set'}"
            how = "weaker" if order is Strength.WEAKER else "no stronger, as far as can be told"
            return Objection("weakening", clean_text(f"{daemon.name}: {would}, which is {how}.", 400))
    return None


def _follows_general_value(key: str, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Return True if a conditional setting equals the general one on both sides; the general one is reported."""
    of_all, _for, some = key.partition(" for ")
    return bool(some) and all(side.get(key, UNSET) == side.get(of_all) for side in (before, after))
