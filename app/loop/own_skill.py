"""Loads a run's skill with the site values from its start."""

from app.loop.state import RunState
from app.skills.catalog import skill
from app.skills.skill import Skill, tuned


def own_skill(state: RunState) -> Skill:
    assert state.request
    return tuned(skill(state.request.skill), state.started.parameters if state.started else ())
