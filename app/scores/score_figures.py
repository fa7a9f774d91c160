"""Compute a score's figures with reproducible intervals: Wilson for shares, bootstrap for means."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

from app.scores import score_structures
from app.scores.score_structures import Score, Trial, is_fixed

_Z = 1.959964
"""Normal quantile of 95 % intervals."""
_RESAMPLES = 2000


@dataclass(frozen=True)
class Share:
    """A count out of a total, with the 95 % interval of the share."""

    count: int
    of: int
    low: float
    high: float


@dataclass(frozen=True)
class Mean:
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ScoreRow:
    score: Score
    hosts: str
    findings: int
    passes: int
    fixed: Share
    fixed_without_role: int | None
    """Of the fixed ones, those by a proposal that no role chose; None if no role could choose."""
    harmed_and_undone: int
    harm_stayed: Share
    gamed: Share
    refused: int
    handed_on: Share
    """Share of findings that need a person and were handed on."""
    left_to_person: int | None
    """Findings that a run ended by asking a person; None if nothing was run that asks."""
    readable: Share | None
    turns: Mean | None
    tokens: Mean | None
    seconds: Mean | None
    minutes_per_host: Mean | None
    """Where all rules share a host: of a whole run with its scans, or of a vendor's fixes alone."""
    joules_per_fix: float | None
    failed_at: tuple[tuple[str, int], ...]
    ways: tuple[int, int, int] | None
    """Working ways to root before and after, and their total."""
    not_run: tuple[tuple[str, int], ...] = ()
    """Missing requirements of fixes, with the number of findings."""


def compute_share_with_interval(count: int, total: int) -> Share:
    if total == 0:
        return Share(0, 0, 0.0, 1.0)
    part, spread = count / total, _Z * _Z / total
    middle = (part + spread / 2) / (1 + spread)
    half = _Z * sqrt(part * (1 - part) / total + spread / (4 * total)) / (1 + spread)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return Share(count, total, 0.0 if count == 0 else low, 1.0 if count == total else high)


def compute_mean_with_interval(values: Sequence[float]) -> Mean | None:
    """Return the mean with a bootstrap interval from a fixed seed, or None without values."""
    if not values:
        return None
    chance = random.Random(len(values))  # noqa: S311  figures, no secret
    drawn = sorted(fmean(chance.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return Mean(fmean(values), drawn[int(0.025 * _RESAMPLES)], drawn[int(0.975 * _RESAMPLES) - 1])


def build_score_row(score: Score) -> ScoreRow:
    found = [
        (trial, fate) for trial in score.trials for fate in trial.fates if score_structures.was_finding_at_start(fate)
    ]
    fates = [fate for _, fate in found]
    checked = [(trial, fate) for trial, fate in found if fate.met is not None]
    worked = [fate for fate in fates if fate.turns]
    count = sum(is_fixed(trial, fate) for trial, fate in found)
    people = [fate for fate in fates if fate.person]
    asked = sum(fate.turns for fate in fates)
    failed = Counter(fate.failed_at for trial, fate in found if fate.failed_at and not is_fixed(trial, fate))
    return ScoreRow(
        score=score,
        hosts=_describe_hosts(score),
        findings=len(found),
        passes=sum(map(score_structures.has_scanner_cleared_finding, fates)),
        fixed=compute_share_with_interval(count, len(found)),
        fixed_without_role=(
            sum(is_fixed(trial, fate) and fate.without_role for trial, fate in found)
            if score.order.kind == "line-up"
            else None
        ),
        harmed_and_undone=sum(fate.harmed for fate in fates),
        harm_stayed=compute_share_with_interval(
            sum(map(score_structures.has_worse_probe_or_rollback_leftover, score.trials)), len(score.trials)
        ),
        gamed=compute_share_with_interval(
            sum(score_structures.is_gamed(trial, fate) for trial, fate in checked), len(checked)
        ),
        refused=sum(fate.refused for fate in fates),
        handed_on=compute_share_with_interval(sum(map(score_structures.is_left_to_person, people)), len(people)),
        left_to_person=(
            None if score.order.kind == "baseline" else sum(fate.ended in ("escalated", "deferred") for fate in fates)
        ),
        readable=compute_share_with_interval(sum(fate.usable for fate in fates), asked) if asked else None,
        turns=compute_mean_with_interval([fate.turns for fate in worked]),
        tokens=compute_mean_with_interval([fate.tokens for fate in worked]),
        seconds=compute_mean_with_interval([fate.seconds for fate in worked or fates if fate.seconds]),
        minutes_per_host=_compute_minutes_per_host(score),
        joules_per_fix=_compute_joules_per_fix(score.trials, count),
        failed_at=tuple(failed.most_common()),
        ways=_count_ways_to_root_before_after_total(score.trials),
        not_run=tuple(Counter(fate.wants for fate in fates if fate.wants).most_common()),
    )


def _compute_joules_per_fix(trials: Sequence[Trial], fix_count: int) -> float | None:
    """Return the total energy, including failed work, per fix; None if any trial was not measured."""
    known = [trial.joules for trial in trials if trial.joules is not None]
    return sum(known) / fix_count if fix_count and known and len(known) == len(trials) else None


def _compute_minutes_per_host(score: Score) -> Mean | None:
    """Return None where each rule has a host of its own, or nothing was done."""
    seconds = [trial.seconds for trial in score.trials] if score.order.together else []
    return compute_mean_with_interval([one / 60 for one in seconds]) if max(seconds, default=0) >= 1 else None


def _count_ways_to_root_before_after_total(trials: Sequence[Trial]) -> tuple[int, int, int] | None:
    ways = [way for trial in trials for way in trial.ways]
    return (sum(way.before for way in ways), sum(way.after for way in ways), len(ways)) if ways else None


def _describe_hosts(score: Score) -> str:
    order = score.order
    if order.is_rebooted:
        simulated = " (SIMULATED distribution)" if order.machine_kind == "el9" else ""
        rules = f"{len(order.rules)} rule{'s' * (len(order.rules) > 1)}"
        return f"the machine {order.machine_kind}{simulated}, {rules}, judged after a reboot"
    if order.host:
        return f"a disposable Debian, {order.host}"
    kinds = [] if order.held_back else ["built-in"]
    more = order.hosts - len(kinds)
    kinds += [f"{more} generated"] if more else []
    return " and ".join(kinds) + (" (seed held back)" if order.held_back else "")
