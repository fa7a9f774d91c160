from app.events.kinds import TurnFinished, TurnInterrupted, TurnStarted
from app.evidence.role_engine_usage import Seats, SeatUsed


def began(turn, role="worker", replica=0):
    about = {"rule": "V-1", "attempt": 1, "purpose": "act", "engine": "big", "model": "m"}
    return TurnStarted(turn=turn, role=role, replica=replica, max_tokens=9, prompt=("", ""), **about)


def ended(turn, outcome="answered"):
    told = {"detail": "", "thought": "", "answer": "", "prompt_tokens": 10, "completion_tokens": 3}
    return TurnFinished(turn=turn, role="worker", purpose="act", outcome=outcome, **told)


def test_turns_are_counted_by_role_engine_and_model():
    seats = Seats()
    for event in (
        began("a"), ended("a"), began("b", replica=1), ended("b", "stalled"),
        began("c"), TurnInterrupted(turn="c", reason=""), began("d", role="sentry"),
    ):  # fmt: skip
        seats.apply_event(event)
    assert seats.list_seats() == (
        SeatUsed("sentry", "big", "m", (0,), turns=1, unanswered=1),
        SeatUsed("worker", "big", "m", (0, 1), turns=3, unanswered=2, prompt_tokens=20, completion_tokens=6),
    )
