"""Submit, pause, resume and stop rollouts, as events in the rollout's own chain."""

import secrets

from sqlalchemy import Engine
from sqlmodel import Session

from app.errors import NotTaken
from app.events.kinds import RolloutAsked, RolloutPaused, RolloutResumed, RolloutStopRequested
from app.runs.command import LONGEST_NAME, LONGEST_REASON
from app.runs.rollout.state import RolloutState, fold_rollout
from app.store.rollouts import asked, events_of, journal, known_rollout
from app.text.clean import clean

FOR_ROLLOUT = {"pause": ("running",), "resume": ("paused",), "stop": ("running", "paused")}
"""Allowed rollout states for each verb."""


def new_rollout_id() -> str:
    return secrets.token_hex(4)


def ask_for(database: Engine, request: RolloutAsked, rollout: str) -> None:
    """Store a rollout; the leading node begins its runs. Idempotent for the same id."""
    with journal(database, rollout) as chain:
        if not chain.seq:
            chain.append(request)


def handle_rollout(database: Engine, rollout: str, verb: str, *, by: str, reason: str = "") -> RolloutState:
    if verb not in FOR_ROLLOUT:
        said = f"a rollout cannot be asked to {verb[:40]!a}: choose one of {', '.join(FOR_ROLLOUT)}."
        raise NotTaken("verb", said)
    if len(reason) > LONGEST_REASON:
        raise NotTaken("reason", f"the reason has {len(reason)} characters: {LONGEST_REASON} are the most.")
    by, reason = clean(by, LONGEST_NAME), clean(reason, LONGEST_REASON)
    with journal(database, rollout) as chain:
        known_rollout(chain.session, rollout)
        state = fold_rollout(events_of(chain.session, rollout))
        if state.status not in FOR_ROLLOUT[verb]:
            raise NotTaken("", f"rollout {rollout} is {state.status}: it cannot {verb}.", "wrong-state")
        if verb == "pause":
            chain.append(RolloutPaused(by=by, reason=reason))
        elif verb == "stop":
            chain.append(RolloutStopRequested(by=by, reason=reason))
        else:
            chain.append(RolloutResumed(by=by, reason=reason))
            paused = _paused_by_it(chain.session, state)
            chain.ask(paused, "resume", signature(rollout), reason)
        return fold_rollout(chain.written, state)


def signature(rollout: str) -> str:
    """Return the author of commands that a rollout sends to its runs."""
    return f"rollout {rollout}"


def _paused_by_it(session: Session, state: RolloutState) -> list[str]:
    """Return the runs that the rollout paused. A run that a person paused stays paused."""
    runs = [part.run for part in state.at_work]
    return sorted(asked(session, runs, "pause", signature(state.rollout), state.since))
