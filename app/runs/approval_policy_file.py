"""Read the approval policy file, each error with its line, and tabulate the approvals that it asks for."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, get_args

from app.errors import BadInput
from app.events.approval_policy import ApprovalPolicy, ApprovalRule, ChangeRisk
from app.events.event_field_types import Category
from app.lineups.toml_reader import Table, TomlReader, format_suggestion_or_choices
from app.loop.required_approvals import decide_people_needed
from app.loop.risk import HAZARDS, WORDS

MOST_RULES, LONGEST = 64, 64 * 1024
CATEGORIES: tuple[Category, ...] = get_args(Category)
SORTS: dict[str, dict[str, Any]] = {
    "new": {"irreversible": False, "replayed": False},
    "held on another host": {"irreversible": False, "replayed": True},
    "cannot be undone": {"irreversible": True, "replayed": False},
}
_LISTS: dict[str, tuple[str, ...]] = {"category": CATEGORIES, "breaks": WORDS}
_FLAGS = ("cuts_the_line", "irreversible", "replayed")


def read_approvals(path: Path) -> ApprovalPolicy:
    try:
        content = path.read_bytes()
    except OSError as exc:
        raise BadInput(f"{path} cannot be read ({exc.strerror}): TEMPER_APPROVALS must name a policy file.") from exc
    if len(content) > LONGEST:
        raise BadInput(f"{path} has {len(content)} bytes; the limit is {LONGEST}.")
    return _PolicyReader(path, content).build_policy(hashlib.sha256(content).hexdigest())


class _PolicyReader(TomlReader):
    def build_policy(self, file_sha256: str) -> ApprovalPolicy:
        document = self.document
        self.check_keys((), document, ("otherwise", "rule"))
        if "otherwise" not in document:
            self.reject((), "", "otherwise is missing: add otherwise = 0, 1 or 2 above the rules")
        tables = document.get("rule", [])
        if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
            self.reject((), "rule", "each rule is a table of its own: [[rule]]")
        if len(tables) > MOST_RULES:
            self.reject((), "", f"there are {len(tables)} rules; the limit is {MOST_RULES}")
        return ApprovalPolicy(
            file=self.path.name,
            sha256=file_sha256,
            rules=tuple(self._read_rule(("rule", str(place)), table) for place, table in enumerate(tables)),
            otherwise=self._read_people_count((), document, "otherwise"),
            line=self.lines.get_line_number((), "otherwise"),
        )

    def _read_rule(self, table_path: Table, table: dict[str, Any]) -> ApprovalRule:
        self.check_keys(table_path, table, ("people", *_LISTS, *_FLAGS))
        if "people" not in table:
            self.reject(table_path, "", "people is missing: add people = 0, 1 or 2")
        if len(table) == 1:
            self.reject(table_path, "", "a rule without a condition matches every change: use otherwise for that")
        given: dict[str, Any] = {
            name: self._read_known_words(table_path, table, name) for name in _LISTS if name in table
        }
        for name in _FLAGS:
            if name in table and not isinstance(table[name], bool):
                self.reject(table_path, name, f"{name} should be true or false")
            given[name] = table.get(name)
        people = self._read_people_count(table_path, table, "people")
        if given["irreversible"] and not people:
            self.reject(table_path, "people", "a change that cannot be undone always needs a person: people = 1 or 2")
        return ApprovalRule(line=self.lines.get_line_number(table_path), people=people, **given)

    def _read_people_count(self, table_path: Table, table: dict[str, Any], key: str) -> int:
        found = table[key]
        if type(found) is not int or found not in (0, 1, 2):
            self.reject(table_path, key, f"{key} is a number of people: 0, 1 or 2")
        return found

    def _read_known_words(self, table_path: Table, table: dict[str, Any], key: str) -> tuple[str, ...]:
        found, known = table[key], _LISTS[key]
        if not isinstance(found, list) or not found or not all(isinstance(one, str) for one in found):
            self.reject(table_path, key, f'{key} should be a list, like ["{known[0]}"]')
        for one in found:
            if one not in known:
                self.reject(table_path, key, f"{one[:40]!a} is not a {key}: {format_suggestion_or_choices(one, known)}")
        return tuple(found)


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
    for sort, kind in SORTS.items():
        for hazard in HAZARDS:
            cuts, breaks = hazard.cuts_the_line, (hazard.word,)
            risks = (ChangeRisk(category=one, breaks=breaks, cuts_the_line=cuts, **kind) for one in CATEGORIES)
            cells = tuple(_format_cell(policy, risk) for risk in risks)
            alike.setdefault((sort, cuts, cells), []).append(hazard.word)
    return [ApprovalLine(sort, tuple(words), cuts, *cells) for (sort, cuts, cells), words in alike.items()]


def list_unreachable_rule_lines(policy: ApprovalPolicy) -> list[int]:
    """Return the line numbers of rules that never apply, because an earlier rule always does."""
    first = (
        next((rule for rule in policy.rules if rule.matches_all_conditions(risk)), None)
        for risk in _iterate_possible_risks()
    )
    deciding = {rule.line for rule in first if rule}
    return [rule.line for rule in policy.rules if rule.line not in deciding]


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


def _format_cell(policy: ApprovalPolicy, risk: ChangeRisk) -> str:
    asked = decide_people_needed(policy, "auto", risk)
    return f"{asked.people} ({asked.by.removeprefix(policy.file).strip()})"
