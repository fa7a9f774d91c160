"""Remaining time and tokens of an item and its run."""

from app.loop.state import Item, RunState, get_unattended_seconds


def explain_overspending(item: Item, state: RunState, now: float) -> str | None:
    budget = state.budget
    now -= get_unattended_seconds(state, now)
    if item.tokens >= budget.item_tokens:
        return f"the item's {budget.item_tokens} tokens are spent"
    if now - item.started >= budget.item_seconds:
        return f"the item's {budget.item_seconds:.0f} s are spent"
    if now - state.started_at >= budget.run_seconds:
        return f"the run's {budget.run_seconds:.0f} s are spent"
    return None


def get_seconds_left(state: RunState, item: Item, now: float) -> float:
    now -= get_unattended_seconds(state, now)
    budget = state.budget
    item_left = item.started + budget.item_seconds - now
    run_left = state.started_at + budget.run_seconds - now
    return max(0.0, min(budget.turn_seconds, item_left, run_left))
