"""Finds the question that a rule leaves to a person, where nothing is proposed for it."""

import re
from functools import cache
from pathlib import Path

import msgspec

_DATA = Path(__file__).with_suffix(".toml")


class PersonDecision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    question: str
    """A few words by which such rules are grouped."""
    rule: str
    """A pattern of rule names."""
    text: str
    """A pattern that is found in the title or the requirement of other content's rules."""
    reason: str
    although_proposed: bool = False
    """Told also where content proposes something: what it proposes is refused."""


@cache
def load_decisions() -> tuple[PersonDecision, ...]:
    return msgspec.toml.decode(_DATA.read_bytes(), type=dict[str, tuple[PersonDecision, ...]])["decisions"]


def find_person_decision(rule_id: str, text: str) -> PersonDecision | None:
    """Return what a person has to decide for the rule; None if nothing is known of it."""
    fitting = (one for one in load_decisions() if re.fullmatch(one.rule, rule_id) or re.search(one.text, text))
    return next(fitting, None)
