"""What has become worse on a host: its probes now, beside those from before the run."""

from collections.abc import Iterable, Mapping

from app.events.words import Probe
from app.targets.standing import loss

SINCE = frozenset(
    {
        *("password-login", "console-login", "sudo-rights", "login-shells", "next-boot", "selinux-boot"),
        *("audit-disk", "audit-panic", "audit", "selinux", "password-change", "become", "failed-units"),
    }
)
"""Asked since a later release: a run that began before it never heard them, and they prove no harm of its own."""


def blameless(before: Iterable[Probe], now: Iterable[Probe]) -> tuple[str, ...]:
    """Failing, and no change of the run's broke these: they failed when it began and lost nothing since."""
    known = {probe.name: probe for probe in before}
    failed = {name for name, probe in known.items() if not probe.ok} | (SINCE - known.keys())
    found = (probe for probe in now if not probe.ok and probe.name in failed)
    return tuple(probe.name for probe in found if not loss(known.get(probe.name), probe))


def _failed_before(known: Mapping[str, Probe], probe: Probe) -> bool:
    return probe.name in known and not known[probe.name].ok


def worse(before: Iterable[Probe], now: Iterable[Probe]) -> str | None:
    """In the probe's own words. One that can no longer be asked lost what it looked at."""
    known, standing = {probe.name: probe for probe in before}, {probe.name: probe for probe in now}
    excused = blameless(known.values(), standing.values())
    for probe in standing.values():
        lost = loss(known.get(probe.name), probe)
        if not probe.ok and probe.name not in excused and not (lost and _failed_before(known, probe)):
            return f"{probe.name}: {probe.detail}"
        if lost:
            return f"{probe.name}: {lost}"
    gone = next((probe for probe in known.values() if probe.ok and probe.name not in standing), None)
    return f"{gone.name}: it can no longer be asked; before the run: {gone.detail}" if gone else None
