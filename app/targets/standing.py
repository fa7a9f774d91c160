"""Compare health probes with earlier ones: what they lost, and which weaknesses are new."""

from collections.abc import Iterable

import msgspec

from app.events.words import Probe
from app.text.clean import clean

_LONGEST = 300
_NAMED = 4


def loss(was: Probe | None, now: Probe) -> str:
    """Return what the probe lost or gained since `was`; an empty string without a difference."""
    if was is None:
        return ""
    gone = [one for one in was.holds if one not in now.holds]
    came = [one for one in now.holds if one not in was.holds] + [one for one in now.weak if one not in was.weak]
    found = (("no longer", gone), ("new", came))
    return "; ".join(f"{word}: {_listed(ones)}" for word, ones in found if ones)


def beside(before: Iterable[Probe], now: Iterable[Probe]) -> tuple[Probe, ...]:
    """Return the probes of `now`. A probe that lost something fails, and its detail says what."""
    known = {probe.name: probe for probe in before}
    return tuple(_marked(probe, loss(known.get(probe.name), probe)) for probe in now)


def _marked(probe: Probe, lost: str) -> Probe:
    return msgspec.structs.replace(probe, ok=False, detail=clean(lost, _LONGEST)) if lost and probe.ok else probe


def _listed(ones: list[str]) -> str:
    rest = f" and {len(ones) - _NAMED} more" if len(ones) > _NAMED else ""
    return f"{', '.join(ones[:_NAMED])}{rest}"
