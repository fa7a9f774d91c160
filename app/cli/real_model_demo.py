"""`temper demo --real`: the demo with a real model on this machine's CPU."""

from dataclasses import replace

from app.cli.up import describe_engine_start_blockers
from app.config import Settings
from app.errors import BadInput
from app.events.event_field_types import Budget
from app.lineups.reader import read_lineup, require_lineup_path
from app.runs.order import Order

LINEUP = "cpu"
RULES = ("V-257984", "V-258007", "V-258041", "V-258069")
"Each rule needs one value in one file, which a model of this size can handle."


def create_small_model_order(by: str, note: str) -> Order:
    budget = Budget(attempts=2)  # a model of this size gains little from a third attempt
    return Order(rules=RULES, mode="auto", budget=budget, note=note, by=by)


def create_demo_run_order_for_lineup(settings: Settings, by: str) -> Order:
    """Return the order of a demo with real models: all rules, or those within reach if a small model plans."""
    lineup = read_lineup(require_lineup_path(settings.lineup))
    if settings.lineup == LINEUP:
        return create_small_model_order(by, "demo with a real model on the CPU")
    note = f"demo with {lineup.title}"[:200]
    if lineup.seats["architect"].guided:
        return create_small_model_order(by, note)
    return Order(mode="auto", note=note, by=by)


def select_cpu_lineup(settings: Settings) -> Settings:
    if settings.lineup not in (LINEUP, Settings.lineup):
        raise BadInput("--real selects its own line-up. Leave --lineup out, or give that line-up without --real.")
    chosen = replace(settings, lineup=LINEUP)
    if blockers := describe_engine_start_blockers(chosen):
        raise BadInput(blockers)
    return chosen
