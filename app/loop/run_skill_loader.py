"""Loads a run's skill with the site values from its start."""

from app.loop.state import RunState
from app.skills.catalog import load_skill
from app.skills.skill import Skill, apply_parameters


def load_skill_with_run_parameters(state: RunState) -> Skill:
    assert state.request
    return apply_parameters(load_skill(state.request.skill), state.started.parameters if state.started else ())
