"""`temper run --from FILE`: take the open rules of another scanner's results as the order's rules."""

import sys
from dataclasses import replace
from pathlib import Path

from app.errors import BadInput
from app.evidence.incoming.starting_point import read_starting_point
from app.runs.order import Order
from app.skills.catalog import load_skill


def apply_starting_point(order: Order, file: Path) -> Order:
    if order.rules is not None:
        raise BadInput("give --from or --rules, not both.")
    start = read_starting_point(file, load_skill(order.skill))
    print(f"temper: {start.summary_text}", file=sys.stderr)  # noqa: T201
    note = "; ".join(part for part in (order.note, start.log_note) if part)
    return replace(order, rules=start.rules, note=note)
