"""Matches waivers with the findings of a run. Pure."""

from collections.abc import Iterable

import msgspec

from app.events.vocabulary import Published
from app.events.waiver import Waiver
from app.loop.state import RunState
from app.skills.skill import Skill


def match_waivers_to_skill(waivers: Iterable[Waiver], skill: Skill, published: Published | None) -> tuple[Waiver, ...]:
    """Return the skill's waivers under its own rule ids; a waiver may name a rule by its V-number."""
    numbers = {one.group: one.rule for one in published.rules} if published else {}
    named = ((one, one.rule if one.rule in skill.rules else numbers.get(one.rule)) for one in waivers)
    return tuple(msgspec.structs.replace(one, rule=rule) for one, rule in named if rule)


def find_active_waiver(state: RunState, rule: str, at: float) -> Waiver | None:
    """Return the active waiver with the latest end, or None."""
    known = state.started.waivers if state.started else ()
    return max(
        (one for one in known if one.rule == rule and one.is_active(at)), key=lambda one: one.until, default=None
    )
