"""When an item gets no further attempt and is escalated. Pure.

The default limits are in app/events/default_item_budget.py.
"""

from app.events.event_field_types import Budget
from app.loop.attempt_state import Attempt
from app.loop.state import Item

WEIGH_EVERY = 3
"""Every how many attempts the Architect decides to continue, pivot or escalate."""
GAP_AFTER = 4
"""Number of distinct harmless approaches that fail before the scanner is suspected."""


def find_reason_to_stop_attempts(item: Item, attempt: Attempt, budget: Budget) -> str | None:
    """Return why the failed attempt was the item's last one, or None if the item gets another."""
    assert attempt.reflected
    if attempt.reflected.decision == "ESCALATE" and attempt.number % WEIGH_EVERY == 0:
        return f"the Architect escalates: {attempt.reflected.reason}"
    healthy = [failure for failure in item.failures if failure.cause == "scanner"]
    if item.pivoted and len(healthy) >= GAP_AFTER and len(set(item.tried)) >= GAP_AFTER:
        return f"{len(healthy)} different approaches left the host healthy and still fail: check the rule by hand"
    if attempt.number - item.replayed >= budget.attempts:
        attempts = f"{attempt.number} attempt{'s' * (attempt.number > 1)}"
        return f"{attempts} did not pass; the last: {item.failures[-1].reason}"
    return None
