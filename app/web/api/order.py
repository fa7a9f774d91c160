"""Request models for runs, converted to the common Order."""

from typing import Annotated

from pydantic import Field

from app.events.words import Budget
from app.people.rights import signed, token
from app.runs.order import BOUNDS, LONGEST, MODES, MOST_RULES, PROFILES, RULE_LENGTH, Order
from app.web.api.wire import Who, Wire, stated

Rules = Annotated[
    list[Annotated[str, stated(maxLength=RULE_LENGTH, examples=["V-257985"])]] | None,
    stated(minItems=1, maxItems=MOST_RULES, description="Rule ids; all when left out."),
]
HostName = Annotated[str, stated(maxLength=LONGEST["host"], examples=["fixture"])]
SkillName = Annotated[str, stated(maxLength=LONGEST["skill"])]
ModeName = Annotated[str, stated(enum=list(MODES))]
_ProfileName = Annotated[str, stated(enum=list(PROFILES))]


def _within(name: str) -> object:
    least, most = BOUNDS[name]
    return stated(minimum=least, maximum=most)


class BudgetOrder(Wire):
    """Fields left out keep their defaults."""

    run_seconds: Annotated[float, _within("run_seconds")] = Budget().run_seconds
    item_seconds: Annotated[float, _within("item_seconds")] = Budget().item_seconds
    turn_seconds: Annotated[float, _within("turn_seconds")] = Budget().turn_seconds
    stall_seconds: Annotated[float, _within("stall_seconds")] = Budget().stall_seconds
    approval_seconds: Annotated[float, _within("approval_seconds")] = Budget().approval_seconds
    attempts: Annotated[int, _within("attempts")] = Budget().attempts
    item_tokens: Annotated[int, _within("item_tokens")] = Budget().item_tokens


class RunOrder(Wire):
    host: HostName
    skill: SkillName = "stig"
    rules: Rules = None
    profile: Annotated[_ProfileName | None, Field(description="By category, instead of rules.")] = None
    mode: Annotated[ModeName | None, Field(description="Left out: auto on the built-in host, review on others.")] = None
    budget: BudgetOrder = BudgetOrder()
    keep: Annotated[bool, Field(description="Start from the host as it stands.")] = False
    note: Annotated[str, stated(maxLength=LONGEST["note"])] = ""
    consent: Annotated[
        str,
        stated(
            maxLength=LONGEST["consent"],
            description="Only for a host that could not be rolled back: I accept that HOST cannot be rolled back.",
        ),
    ] = ""
    replay_fixes: Annotated[
        bool, Field(description="First try what held on another host with the same files, before a role is asked.")
    ] = True
    after_reboot: Annotated[
        bool, Field(description="Look only: what of the host's last run holds now that the host began anew.")
    ] = False
    by: Annotated[Who, Field(description="Who asks; it goes into the log.")] = "api"

    def order(self, pace: float) -> Order:
        return Order(
            host=self.host,
            skill=self.skill,
            rules=None if self.rules is None else tuple(self.rules),
            profile=self.profile,
            mode=self.mode,
            keep=self.keep,
            budget=Budget(**self.budget.model_dump()),
            note=self.note,
            consent=self.consent,
            replay_fixes=self.replay_fixes,
            pace=pace,
            after_reboot=self.after_reboot,
            by=signed(self.by),
            token=token(),
        )
