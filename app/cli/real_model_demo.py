"""`temper demo --real`: the demo with a real model on this machine's CPU."""

from dataclasses import replace

from app.cli.up import describe_blockers
from app.config import Settings
from app.errors import BadInput
from app.events.vocabulary import Budget
from app.runs.order import Order

LINEUP = "cpu"
RULES = ("V-257984", "V-258007", "V-258041", "V-258069")
"Each rule needs one value in one file, which a model of this size can handle."


def create_cpu_order(by: str) -> Order:
    budget = Budget(attempts=2)  # a model of this size gains little from a third attempt
    return Order(rules=RULES, mode="auto", budget=budget, note="demo with a real model on the CPU", by=by)


def use_cpu_lineup(settings: Settings) -> Settings:
    if settings.lineup not in (LINEUP, Settings.lineup):
        raise BadInput("--real selects its own line-up. Leave --lineup out, or give that line-up without --real.")
    chosen = replace(settings, lineup=LINEUP)
    if blockers := describe_blockers(chosen):
        raise BadInput(blockers)
    return chosen
