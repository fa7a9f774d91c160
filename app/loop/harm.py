"""What has become worse on a host: its probes now, beside those from before the run."""

from collections.abc import Iterable

from app.events.words import Probe


def ailing(before: Iterable[Probe]) -> tuple[str, ...]:
    """Failing already when the run began: no change of the run's broke these."""
    return tuple(probe.name for probe in before if not probe.ok)


def worse(before: Iterable[Probe], now: Iterable[Probe]) -> str | None:
    """In the probe's own words. One that can no longer be asked lost what it looked at."""
    standing, known = {probe.name: probe for probe in now}, list(before)
    excused = ailing(known)
    for probe in standing.values():
        if not probe.ok and probe.name not in excused:
            return f"{probe.name}: {probe.detail}"
    gone = next((probe for probe in known if probe.ok and probe.name not in standing), None)
    return f"{gone.name}: it can no longer be asked; before the run: {gone.detail}" if gone else None
