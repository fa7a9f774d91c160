"""What a policy file comes to: for each sort of change, how many people, and by which line."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import get_args

from app.events.approvals import ApprovalPolicy, ChangeRisk
from app.events.words import Category
from app.loop.approving import needed
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


def approval_table(policy: ApprovalPolicy) -> list[ApprovalLine]:
    """In mode auto; in review each takes one person at least. What is alike is one line."""
    alike: dict[tuple[str, bool, tuple[str, ...]], list[str]] = {}
    for sort in SORTS:
        for hazard in HAZARDS:
            cells = tuple(_cell(policy, _risk(sort, hazard, category)) for category in CATEGORIES)
            alike.setdefault((sort, hazard.cuts_the_line, cells), []).append(hazard.word)
    return [ApprovalLine(sort, tuple(words), cuts, *cells) for (sort, cuts, cells), words in alike.items()]


def never(policy: ApprovalPolicy) -> list[int]:
    """Lines of rules that decide nothing, since one before them always does."""
    deciding = {_first(policy, risk) for risk in _possible()}
    return [rule.line for rule in policy.rules if rule.line not in deciding]


def _first(policy: ApprovalPolicy, risk: ChangeRisk) -> int | None:
    return next((rule.line for rule in policy.rules if rule.fits(risk)), None)


def _possible() -> Iterator[ChangeRisk]:
    """Every risk that a rule could tell from others: a change touches one part of a host or two."""
    for category, one, other in product(CATEGORIES, HAZARDS, HAZARDS):
        for irreversible, replayed in product((False, True), repeat=2):
            yield ChangeRisk(
                category=category,
                breaks=(one.word, other.word),
                cuts_the_line=one.cuts_the_line or other.cuts_the_line,
                irreversible=irreversible,
                replayed=replayed,
            )


def _risk(sort: str, hazard: Hazard, category: Category) -> ChangeRisk:
    return ChangeRisk(category=category, breaks=(hazard.word,), cuts_the_line=hazard.cuts_the_line, **SORTS[sort])


def _cell(policy: ApprovalPolicy, risk: ChangeRisk) -> str:
    asked = needed(policy, "auto", risk)
    return f"{asked.people} ({asked.by.removeprefix(policy.file).strip()})"
