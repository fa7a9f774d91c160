"""Compare health probes with earlier ones: what they lost, and which weaknesses are new."""

from collections.abc import Iterable

import msgspec

from app.events.event_field_types import Probe
from app.text.clean import clean_text

_LONGEST = 300
_NAMED = 4


def describe_probe_difference(was: Probe | None, now: Probe) -> str:
    """Return what the probe lost or gained since `was`; an empty string without a difference."""
    if was is None:
        return ""
    if was.asked and now.asked is False:
        return f"it can no longer be asked: {now.detail}"
    gone = [one for one in was.holds if one not in now.holds]
    came = [one for one in now.holds if one not in was.holds] + [one for one in now.weak if one not in was.weak]
    found = (("no longer", gone), ("new", came))
    return "; ".join(f"{word}: {_join_first_names_and_count_rest(ones)}" for word, ones in found if ones)


def mark_worsened_probes(before: Iterable[Probe], now: Iterable[Probe]) -> tuple[Probe, ...]:
    """Return the probes of `now`. A probe that lost something fails, and its detail says what."""
    known = {probe.name: probe for probe in before}
    return tuple(_mark_as_failed_if_worse(known.get(probe.name), probe) for probe in now)


def _mark_as_failed_if_worse(was: Probe | None, now: Probe) -> Probe:
    worse = describe_probe_difference(was, now) if now.ok else ""
    return msgspec.structs.replace(now, ok=False, detail=clean_text(worse, _LONGEST)) if worse else now


def _join_first_names_and_count_rest(names: list[str]) -> str:
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{rest}"
