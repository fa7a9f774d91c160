"""Request models for runs, converted to the common Order."""

from dataclasses import replace
from typing import Annotated

import msgspec
from pydantic import Field

from app.events.event_field_types import EngineChoice
from app.people.rights import get_name_to_record, get_token_id
from app.runs.order import BOUNDS, LONGEST, MODES, MOST_RULES, PROFILES, USUAL, Order
from app.runs.shared_field_checks import RULE_LENGTH
from app.web.api.api_model import ApiModel, Who, declare_field_with_unchecked_bounds

Rules = Annotated[
    list[Annotated[str, declare_field_with_unchecked_bounds(maxLength=RULE_LENGTH, examples=["V-257985"])]] | None,
    declare_field_with_unchecked_bounds(
        minItems=1, maxItems=MOST_RULES, description="Rule ids. Default: all rules of the skill."
    ),
]
HostName = Annotated[str, declare_field_with_unchecked_bounds(maxLength=LONGEST["host"], examples=["fixture"])]
SkillName = Annotated[str, declare_field_with_unchecked_bounds(maxLength=LONGEST["skill"])]
ModeName = Annotated[str, declare_field_with_unchecked_bounds(enum=list(MODES))]
_ProfileName = Annotated[str, declare_field_with_unchecked_bounds(enum=list(PROFILES))]


def _declare_field_with_documented_bounds(name: str) -> object:
    least, most = BOUNDS[name]
    return declare_field_with_unchecked_bounds(minimum=least, maximum=most)


class BudgetOrder(ApiModel):
    """Fields left out keep their defaults."""

    run_seconds: Annotated[float, _declare_field_with_documented_bounds("run_seconds")] = USUAL.run_seconds
    item_seconds: Annotated[float, _declare_field_with_documented_bounds("item_seconds")] = USUAL.item_seconds
    turn_seconds: Annotated[float, _declare_field_with_documented_bounds("turn_seconds")] = USUAL.turn_seconds
    stall_seconds: Annotated[float, _declare_field_with_documented_bounds("stall_seconds")] = USUAL.stall_seconds
    approval_seconds: Annotated[float, _declare_field_with_documented_bounds("approval_seconds")] = (
        USUAL.approval_seconds
    )
    attempts: Annotated[int, _declare_field_with_documented_bounds("attempts")] = USUAL.attempts
    item_tokens: Annotated[int, _declare_field_with_documented_bounds("item_tokens")] = USUAL.item_tokens
    reboot_seconds: Annotated[float, _declare_field_with_documented_bounds("reboot_seconds")] = USUAL.reboot_seconds


class RunOrder(ApiModel):
    host: HostName
    skill: SkillName = "stig"
    rules: Rules = None
    profile: _ProfileName | None = Field(default=None, description="Select rules by category, instead of `rules`.")
    mode: ModeName | None = Field(default=None, description="Default: auto on the built-in host, review on others.")
    budget: BudgetOrder = BudgetOrder()
    keep: bool = Field(default=False, description="Do not reset the built-in host first.")
    note: str = declare_field_with_unchecked_bounds(default="", maxLength=LONGEST["note"])
    consent: str = declare_field_with_unchecked_bounds(
        default="",
        maxLength=LONGEST["consent"],
        description="Required for a host without rollback: I accept that HOST cannot be rolled back.",
    )
    replay_fixes: bool = Field(
        default=True,
        description="First try fixes that passed on another host with the same files, before a role plans one.",
    )
    engine: EngineChoice = Field(
        default="lineup",
        description="`none` asks no model: what the content itself proposes is tried in order, and the scanner"
        " and the host's probes judge it.",
    )
    after_reboot: bool = Field(
        default=False,
        description="Check after a reboot which results of the host's last run still hold. Changes nothing.",
    )
    reboot: bool = Field(
        default=False,
        description="Reboot the host after the last item, and compare what still holds. A person approves it,"
        " unless the host is a machine of `temper machine`.",
    )
    by: Who = Field(default="api", description="Person who requests the run; the log records it.")

    def to_order(self, pace: float) -> Order:
        order = msgspec.convert(self, Order, from_attributes=True)
        return replace(order, pace=pace, by=get_name_to_record(self.by), token=get_token_id())
