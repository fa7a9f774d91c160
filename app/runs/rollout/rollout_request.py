"""Rollout specifications and their validation, for the CLI, the API and the pages."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from app.errors import Rejected
from app.events.kinds import RolloutOrdered, RunQueued
from app.lineups.model import Lineup
from app.runs.order import LONGEST, Order, create_run_request
from app.text.clean import clean_text

MOST_AT_ONCE, MOST_WAVES = 1000, 20
USUAL_WAVES = "1,10%,rest"
_WAVE = re.compile(r"([1-9]\d{0,3})(%?)|rest")


class RolloutTerms(msgspec.Struct, frozen=True, kw_only=True):
    at_once: int = 8
    waves: str = USUAL_WAVES
    """Size of each wave: a number, a percentage of all hosts, or `rest`."""
    harmed: int = 1
    """Number of harmed hosts that pauses the rollout; 0 means never."""
    escalated: float = 100.0
    """Percentage of escalated findings above which the rollout pauses."""


USUAL_TERMS = RolloutTerms()


@dataclass(frozen=True, kw_only=True)
class RolloutSpec:
    order: Order
    """Order for each host; its own host field is ignored."""
    hosts: tuple[str, ...]
    words: str
    """Text that selected the hosts."""
    terms: RolloutTerms = USUAL_TERMS


def create_rollout_request(spec: RolloutSpec, lineup: Lineup, hosts_folder: Path) -> RolloutOrdered:
    """Return the rollout's first event. Raise Rejected if the order is invalid for any host."""
    order, terms = spec.order, spec.terms
    if order.consent:
        raise Rejected(
            "consent", "a rollout does not change a host that cannot be rolled back: start a single run for it."
        )
    check_terms(terms)
    sizes = parse_waves(terms.waves, len(spec.hosts))
    first, *others = (build_host_run_request(order, host, lineup, hosts_folder) for host in spec.hosts)
    return RolloutOrdered(
        hosts=spec.hosts,
        words=clean_text(spec.words, 4000),
        skill=first.skill,
        rules=first.rules,
        mode=first.mode if {first.mode} == {one.mode for one in (first, *others)} else "",
        keep=order.keep,
        budget=order.budget,
        lineup=first.lineup,
        simulated=first.simulated,
        pace=first.pace,
        at_once=terms.at_once,
        waves=sizes,
        harmed=terms.harmed,
        escalated=terms.escalated,
        note=clean_text(order.note, LONGEST["note"]),
        by=order.by,
        whose=order.whose,
        token=order.token,
        replay_fixes=order.replay_fixes,
        engine=first.engine,
        reboot=first.reboot,
        after_reboot=first.after_reboot,
    )


def check_terms(terms: RolloutTerms) -> None:
    for field, (least, most) in {"at_once": (1, MOST_AT_ONCE), "harmed": (0, 1000), "escalated": (0, 100)}.items():
        if not least <= getattr(terms, field) <= most:
            raise Rejected(field, f"{field} must be between {least} and {most}.")
    parse_waves(terms.waves, 1)


def build_host_run_request(order: Order, host: str, lineup: Lineup, hosts_folder: Path) -> RunQueued:
    return create_run_request(replace(order, host=host), lineup, hosts_folder)


def create_order_without_host(rollout_request: RolloutOrdered, rollout: str) -> Order:
    return Order(
        skill=rollout_request.skill,
        rules=rollout_request.rules,
        mode=rollout_request.mode or None,
        keep=rollout_request.keep,
        budget=rollout_request.budget,
        note=rollout_request.note,
        pace=rollout_request.pace,
        replay_fixes=rollout_request.replay_fixes,
        engine=rollout_request.engine,
        reboot=rollout_request.reboot,
        after_reboot=rollout_request.after_reboot,
        by=f"rollout {rollout} of {rollout_request.by}",
        whose=rollout_request.whose or rollout_request.by,
        token=rollout_request.token,
    )


def parse_waves(waves_text: str, host_count: int) -> tuple[int, ...]:
    """Parse wave sizes into host counts that add up to `host_count`. Raise Rejected if invalid."""
    sizes = [word.strip() for word in waves_text.split(",") if word.strip()] or ["rest"]
    if len(sizes) > MOST_WAVES:
        raise Rejected("waves", f"there are {len(sizes)} waves; the limit is {MOST_WAVES}.")
    found: list[int] = []
    for word in sizes:
        if not (number := _WAVE.fullmatch(word)):
            raise Rejected("waves", f"{word[:20]!a} is not a wave: give a number of hosts, as 1, 10% or rest.")
        size = host_count if word == "rest" else -(-int(number[1]) * host_count // 100) if number[2] else int(number[1])
        if (left := host_count - sum(found)) > 0:
            found.append(min(size, left))
    if (left := host_count - sum(found)) > 0:
        found.append(left)
    return tuple(found)
