"""Parses the form of an order. It reads the raw form, since FastAPI drops fields that are left empty."""

from collections.abc import Mapping
from math import isfinite
from typing import Annotated

from fastapi import Depends, Request

from app.errors import Rejected
from app.runs.order import Order, parse_engine_choice, split_rules
from app.runs.rollout.rollout_request import USUAL_WAVES, RolloutTerms
from app.targets.host_registry import FIXTURE

USUAL_MODE = "usual"
"""Selects the default mode of the host."""


async def _read_form_fields(request: Request) -> Mapping[str, str]:
    return {name: value for name, value in (await request.form()).items() if isinstance(value, str)}


Fields = Annotated[Mapping[str, str], Depends(_read_form_fields)]


def parse_order_form(
    fields: Mapping[str, str], *, by: str, mode: str | None = None, pace: float | None = None
) -> Order:
    asked = fields.get("mode", mode)
    return Order(
        host=fields.get("host", FIXTURE),
        skill=fields.get("skill", "stig").strip(),
        rules=split_rules(fields.get("rules")),
        mode=None if asked == USUAL_MODE else asked,
        consent=fields.get("consent", ""),
        pace=pace,
        replay_fixes=fields.get("replay", "1") == "1",
        engine=parse_engine_choice(fields.get("engine", "lineup")),
        reboot=fields.get("reboot") == "1",
        after_reboot=fields.get("after_reboot") == "1",
        by=by,
    )


def parse_terms_form(fields: Mapping[str, str]) -> RolloutTerms:
    usual = RolloutTerms()
    return RolloutTerms(
        at_once=int(_parse_number(fields, "at_once", usual.at_once)),
        waves=fields.get("waves", USUAL_WAVES),
        harmed=int(_parse_number(fields, "harmed", usual.harmed)),
        escalated=_parse_number(fields, "escalated", usual.escalated),
    )


def _parse_number(fields: Mapping[str, str], name: str, usual: float) -> float:
    words = fields.get(name, "").strip()
    try:
        found = float(words) if words else usual
    except ValueError:
        found = float("nan")
    if not isfinite(found):
        raise Rejected(name, f"{words[:40]!a} is not a number.")
    return found
