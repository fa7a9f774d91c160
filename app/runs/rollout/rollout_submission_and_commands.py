"""Submit, pause, resume and stop rollouts, as events in the rollout's own chain."""

import secrets

from sqlalchemy import Engine
from sqlmodel import Session

from app.errors import Rejected
from app.events.kinds import RolloutOrdered, RolloutPaused, RolloutResumed, RolloutStopRequested
from app.runs.commands_to_runs import LONGEST_NAME, LONGEST_REASON
from app.runs.rollout.rollout_state import RolloutState, fold_rollout
from app.runs.shared_field_checks import check_length
from app.store.rollouts import find_commanded_runs, open_rollout_journal, read_rollout_events, require_rollout
from app.text.clean import clean_text

FOR_ROLLOUT = {"pause": ("running",), "resume": ("paused",), "stop": ("running", "paused")}
"""Allowed rollout states for each verb."""


def create_random_rollout_id() -> str:
    return secrets.token_hex(4)


def submit_rollout(database: Engine, request: RolloutOrdered, rollout: str) -> None:
    """Store a rollout; the leading node begins its runs. Idempotent for the same id."""
    with open_rollout_journal(database, rollout) as chain:
        if not chain.seq:
            chain.append(request)


def command_rollout(database: Engine, rollout: str, verb: str, *, by: str, reason: str = "") -> RolloutState:
    if verb not in FOR_ROLLOUT:
        known = ", ".join(FOR_ROLLOUT)
        raise Rejected("verb", f"{verb[:40]!a} is not a command for a rollout: choose one of {known}.")
    check_length("reason", reason, LONGEST_REASON)
    by, reason = clean_text(by, LONGEST_NAME), clean_text(reason, LONGEST_REASON)
    with open_rollout_journal(database, rollout) as chain:
        require_rollout(chain.session, rollout)
        state = fold_rollout(read_rollout_events(chain.session, rollout))
        if state.status not in FOR_ROLLOUT[verb]:
            raise Rejected("", f"rollout {rollout} is {state.status}: it cannot {verb}.", "wrong-state")
        if verb == "pause":
            chain.append(RolloutPaused(by=by, reason=reason))
        elif verb == "stop":
            chain.append(RolloutStopRequested(by=by, reason=reason))
        else:
            chain.append(RolloutResumed(by=by, reason=reason))
            paused = _list_runs_paused_by_rollout(chain.session, state)
            chain.send_command(paused, "resume", format_rollout_command_author(rollout), reason)
        return fold_rollout(chain.written, state)


def format_rollout_command_author(rollout: str) -> str:
    """Return the author of commands that a rollout sends to its runs."""
    return f"rollout {rollout}"


def _list_runs_paused_by_rollout(session: Session, state: RolloutState) -> list[str]:
    """Return the runs that the rollout paused. A run that a person paused stays paused."""
    runs = [part.run for part in state.parts_at_work]
    author = format_rollout_command_author(state.rollout)
    return sorted(find_commanded_runs(session, runs, "pause", author, state.since))
