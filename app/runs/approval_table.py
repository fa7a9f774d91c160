"""Tabulate an approval policy: for each kind of change, the approvals needed and the deciding line."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import get_args

from app.events.approvals import ApprovalPolicy, ChangeRisk
from app.events.vocabulary import Category
from app.loop.approval_decision import decide_people_needed
from app.loop.risk import HAZARDS, Hazard

CATEGORIES: tuple[Category, ...] = get_args(Category)
SORTS = {
    "new": {"irreversible": False, "replayed": False},
    "held on another host": {"irreversible": False, "replayed": True},
    "cannot be undone": {"irreversible": True, "replayed": False},
}


@dataclass(frozen=True)
class ApprovalLine:
    change: str
    could_break: tuple[str, ...]
    cuts_the_line: bool
    cat_i: str
    cat_ii: str
    cat_iii: str


def build_approval_table(policy: ApprovalPolicy) -> list[ApprovalLine]:
    """Return the table for mode auto; hazards with equal cells share a line. Mode review needs at least one."""
    alike: dict[tuple[str, bool, tuple[str, ...]], list[str]] = {}
    for sort in SORTS:
        for hazard in HAZARDS:
            cells = tuple(_format_cell(policy, _create_risk(sort, hazard, category)) for category in CATEGORIES)
            alike.setdefault((sort, hazard.cuts_the_line, cells), []).append(hazard.word)
    return [ApprovalLine(sort, tuple(words), cuts, *cells) for (sort, cuts, cells), words in alike.items()]


def find_unreachable_rules(policy: ApprovalPolicy) -> list[int]:
    """Return the line numbers of rules that never apply, because an earlier rule always does."""
    deciding = {_find_deciding_line(policy, risk) for risk in _iterate_possible_risks()}
    return [rule.line for rule in policy.rules if rule.line not in deciding]


def _find_deciding_line(policy: ApprovalPolicy, risk: ChangeRisk) -> int | None:
    return next((rule.line for rule in policy.rules if rule.matches_all_conditions(risk)), None)


def _iterate_possible_risks() -> Iterator[ChangeRisk]:
    """Yield every risk that rules can distinguish; a change touches one or two parts of a host."""
    for category, one, other in product(CATEGORIES, HAZARDS, HAZARDS):
        for irreversible, replayed in product((False, True), repeat=2):
            yield ChangeRisk(
                category=category,
                breaks=(one.word, other.word),
                cuts_the_line=one.cuts_the_line or other.cuts_the_line,
                irreversible=irreversible,
                replayed=replayed,
            )


def _create_risk(sort: str, hazard: Hazard, category: Category) -> ChangeRisk:
    return ChangeRisk(category=category, breaks=(hazard.word,), cuts_the_line=hazard.cuts_the_line, **SORTS[sort])


def _format_cell(policy: ApprovalPolicy, risk: ChangeRisk) -> str:
    asked = decide_people_needed(policy, "auto", risk)
    return f"{asked.people} ({asked.by.removeprefix(policy.file).strip()})"
