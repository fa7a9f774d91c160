"""The path of an attempt, from plan to watch: how far it is, and how each step ended."""

from dataclasses import dataclass

from app.events.event_field_types import Role
from app.web.pages.mission.attempts import AttemptView
from app.web.pages.mission.mission import Mission

STEPS: dict[Role, str] = {"architect": "Plan", "worker": "Change", "auditor": "Verify", "sentry": "Watch"}
"""The name of each role's step."""


@dataclass(frozen=True)
class Step:
    name: str
    role: Role
    sign: str
    """How it ended; empty if it has not."""
    is_current: bool


def list_role_steps_with_signs(mission: Mission) -> list[Step]:
    attempt = mission.tries[-1] if mission.tries else AttemptView(0)
    signs: dict[Role, str] = {
        "architect": "✓" if attempt.plan or attempt.offered else "",
        "worker": _choose_change_sign(attempt),
        "auditor": _choose_verdict_sign(attempt),
        "sentry": "!" if attempt.alarm else "✓" if attempt.clear else "",
    }
    if mission.state.waiting and mission.stage != "lesson" and not signs[mission.stage]:
        signs[mission.stage] = "✗"  # its turn broke off
    item = mission.state.item
    if item and item.attempt and item.attempt.awaits_person:
        signs["worker"] = "?"
    return [
        Step(name, role, signs[role], is_current=role == mission.stage and item is not None)
        for role, name in STEPS.items()
    ]


def _choose_change_sign(attempt: AttemptView) -> str:
    if attempt.undone:
        return "✗" if attempt.undone.differences else "↺"
    if attempt.refused:
        return "✗"
    return "✓" if attempt.applied else ""


def _choose_verdict_sign(attempt: AttemptView) -> str:
    if not attempt.verdict:
        return ""
    vetoed = attempt.explained is not None and attempt.explained.veto
    return "✓" if attempt.verdict.word == "pass" and not vetoed else "✗"
