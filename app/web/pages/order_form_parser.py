"""Parse the fields of a form that starts a run, a rollout or a schedule."""

from collections.abc import Mapping

from app.runs.order import Order, require_choice_of_lineup_or_none, split_at_commas_unless_none
from app.runs.rollout.rollout_request import USUAL_WAVES, RolloutTerms
from app.targets.host_registry import FIXTURE
from app.web.pages.form_field_readers import parse_number_field, parse_whole_number_field

USUAL_MODE = "usual"
"""Selects the default mode of the host."""


def parse_order_form(
    fields: Mapping[str, str], *, by: str, default_mode: str | None = None, pace: float | None = None
) -> Order:
    asked = fields.get("mode", default_mode)
    return Order(
        host=fields.get("host", FIXTURE),
        skill=fields.get("skill", "stig").strip(),
        rules=split_at_commas_unless_none(fields.get("rules")),
        mode=None if asked == USUAL_MODE else asked,
        consent=fields.get("consent", ""),
        pace=pace,
        replay_fixes=fields.get("replay", "1") == "1",
        engine=require_choice_of_lineup_or_none(fields.get("engine", "lineup")),
        reboot=fields.get("reboot") == "1",
        after_reboot=fields.get("after_reboot") == "1",
        by=by,
    )


def parse_terms_form(fields: Mapping[str, str]) -> RolloutTerms:
    usual = RolloutTerms()
    return RolloutTerms(
        at_once=parse_whole_number_field(fields, "at_once", usual.at_once),
        waves=fields.get("waves", USUAL_WAVES),
        harmed=parse_whole_number_field(fields, "harmed", usual.harmed),
        escalated=parse_number_field(fields, "escalated", usual.escalated),
    )
