"""Compares a host's probes with those from before the run."""

from collections.abc import Iterable, Mapping

from app.events.event_field_types import Probe
from app.events.kinds import ActionRolledBack, RebootUndone
from app.targets.probe_comparison import describe_probe_difference

SINCE = frozenset(
    {
        *("password-login", "console-login", "sudo-rights", "login-shells", "next-boot", "selinux-boot"),
        *("audit-disk", "audit-panic", "audit", "selinux", "password-change", "become", "failed-units"),
        "selinux-denials",
    }
)
"""Probes of later releases: runs that started before them have no earlier result to compare to."""
HISTORY = frozenset({"selinux-denials"})
"""Probes of what has happened since the boot: a rollback takes none of it back."""
_PASSWORDS = ("pam", "pam-modules", "password-change", "password-login", "console-login", "become")
_SSHD = ("sshd-starts", "sshd-config", "agent-login", "password-login")
_TOUCHED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("/etc/pam.d/", "/etc/security/", "/etc/login.defs", "/etc/nsswitch.conf"), _PASSWORDS),
    **dict.fromkeys(("/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow"), (*_PASSWORDS, "accounts")),
    **dict.fromkeys(("/etc/ssh/", "/etc/crypto-policies/"), _SSHD),
    "/etc/sudoers": ("visudo", "sudo-rights", "agent-sudo"),
    "/etc/audit/": ("audit", "audit-disk", "audit-panic"),
    "/etc/selinux/": ("selinux", "selinux-boot"),
    "/etc/fstab": ("next-boot",),
    "/etc/systemd/": ("failed-units", "next-boot"),
}
"""The probes whose result a change of a file can alter, by the start of its path."""


def find_touched_probes_not_asked(probes: Iterable[Probe], changed_paths: Iterable[str]) -> tuple[str, ...]:
    """Return the probes that a change of these paths could touch and that the host could not be asked."""
    changed = tuple(changed_paths)
    touched = {
        name for start, names in _TOUCHED.items() if any(path.startswith(start) for path in changed) for name in names
    }
    return tuple(probe.name for probe in probes if probe.asked is False and probe.name in touched)


def find_preexisting_failures(before: Iterable[Probe], now: Iterable[Probe]) -> tuple[str, ...]:
    """Return the names of probes that failed before the run, too, and lost nothing since."""
    known = {probe.name: probe for probe in before}
    failed = {name for name, probe in known.items() if not probe.ok} | (SINCE - known.keys())
    found = (probe for probe in now if not probe.ok and probe.name in failed)
    return tuple(probe.name for probe in found if not describe_probe_difference(known.get(probe.name), probe))


def find_first_harm(before: Iterable[Probe], now: Iterable[Probe]) -> str | None:
    """Return what is worse as the probe describes it, or None. A probe that can no longer be asked counts as worse."""
    known, standing = {probe.name: probe for probe in before}, {probe.name: probe for probe in now}
    excused = find_preexisting_failures(known.values(), standing.values())
    for probe in standing.values():
        before_run = known.get(probe.name)
        lost = describe_probe_difference(before_run, probe)
        failed_before = before_run is not None and not before_run.ok
        if not probe.ok and probe.name not in excused and not (lost and failed_before):
            return f"{probe.name}: {probe.detail}"
        if lost:
            return f"{probe.name}: {lost}"
    gone = next((probe for probe in known.values() if probe.ok and probe.name not in standing), None)
    return f"{gone.name}: it can no longer be asked; before the run: {gone.detail}" if gone else None


def find_first_harm_after_reboot(before: Iterable[Probe], now: Iterable[Probe]) -> str | None:
    """Return what is worse than before the reboot, or None.

    What has happened since the boot is left out: a boot may be denied what nobody recorded at the one before.
    """
    return find_first_harm(*([probe for probe in probes if probe.name not in HISTORY] for probes in (before, now)))


def find_rollback_leftover(
    rollback_name: str, rollback: ActionRolledBack | RebootUndone, before: Iterable[Probe]
) -> str | None:
    """Return what a rollback left behind, or None."""
    if rollback.differences:
        return f"{rollback_name} left a difference: {rollback.differences[0]}"
    find_harm = find_first_harm_after_reboot if isinstance(rollback, RebootUndone) else find_first_harm
    harm = find_harm(before, rollback.probes)
    return f"the host is not healthy after the rollback: {harm}" if harm else None
