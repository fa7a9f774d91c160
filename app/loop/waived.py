"""Which findings of a run somebody answers for. Pure."""

from collections.abc import Iterable

import msgspec

from app.events.waiver import Waiver
from app.events.words import Published
from app.loop.state import RunState
from app.skills.skill import Skill


def of_skill(waivers: Iterable[Waiver], skill: Skill, published: Published | None) -> tuple[Waiver, ...]:
    """By what the skill calls its rules; a waiver may name one by its V-number, whichever content has it."""
    numbers = {one.group: one.rule for one in published.rules} if published else {}
    named = ((one, one.rule if one.rule in skill.rules else numbers.get(one.rule)) for one in waivers)
    return tuple(msgspec.structs.replace(one, rule=rule) for one, rule in named if rule)


def waived(state: RunState, rule: str, at: float) -> Waiver | None:
    """The one that holds longest; None where none holds then."""
    known = state.started.waivers if state.started else ()
    return max((one for one in known if one.rule == rule and one.holds(at)), key=lambda one: one.until, default=None)
