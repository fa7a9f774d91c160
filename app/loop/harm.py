"""Compares a host's probes with those from before the run."""

from collections.abc import Iterable

from app.events.vocabulary import Probe
from app.targets.probe_comparison import describe_loss

SINCE = frozenset(
    {
        *("password-login", "console-login", "sudo-rights", "login-shells", "next-boot", "selinux-boot"),
        *("audit-disk", "audit-panic", "audit", "selinux", "password-change", "become", "failed-units"),
    }
)
"""Probes of later releases: runs that started before them have no earlier result to compare to."""


def find_preexisting_failures(before: Iterable[Probe], now: Iterable[Probe]) -> tuple[str, ...]:
    """Return the names of probes that failed before the run, too, and lost nothing since."""
    known = {probe.name: probe for probe in before}
    failed = {name for name, probe in known.items() if not probe.ok} | (SINCE - known.keys())
    found = (probe for probe in now if not probe.ok and probe.name in failed)
    return tuple(probe.name for probe in found if not describe_loss(known.get(probe.name), probe))


def describe_harm(before: Iterable[Probe], now: Iterable[Probe]) -> str | None:
    """Return what is worse as the probe describes it, or None. A probe that can no longer be asked counts as worse."""
    known, standing = {probe.name: probe for probe in before}, {probe.name: probe for probe in now}
    excused = find_preexisting_failures(known.values(), standing.values())
    for probe in standing.values():
        before_run = known.get(probe.name)
        lost = describe_loss(before_run, probe)
        failed_before = before_run is not None and not before_run.ok
        if not probe.ok and probe.name not in excused and not (lost and failed_before):
            return f"{probe.name}: {probe.detail}"
        if lost:
            return f"{probe.name}: {lost}"
    gone = next((probe for probe in known.values() if probe.ok and probe.name not in standing), None)
    return f"{gone.name}: it can no longer be asked; before the run: {gone.detail}" if gone else None
