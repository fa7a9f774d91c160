"""A turn that has begun, made by hand."""

from app.events.kinds import TurnStarted


def turn_started(turn, role, **more):
    asked = {"rule": "V-1", "attempt": 1, "purpose": "plan", "prompt": ("", ""), "max_tokens": 9}
    return TurnStarted(turn=turn, role=role, **{**asked, "engine": "gemma-31b", "model": "m", "replica": 0, **more})
