"""Skills that select another skill's rules in a TOML file."""

import tomllib
from dataclasses import replace
from pathlib import Path

import msgspec

from app.errors import BadInput
from app.events.vocabulary import Mode
from app.skills.skill import Skill


class RuleSelection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    of: str
    """The source skill; may be `scap:CONTENT:PROFILE`."""
    rules: list[str]
    mode: Mode | None = None
    irreversible: list[str] = []
    """Additional rules that always need a person's approval."""
    breaks: dict[str, str] = {}
    """By rule, what hardening it can break here."""


def read_rule_selection(file: Path) -> RuleSelection:
    try:
        return msgspec.convert(tomllib.loads(file.read_text()), RuleSelection)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as exc:
        raise BadInput(f"The skill folder {file.parent}: {file.name} cannot be read: {exc}") from exc


def apply_rule_selection(name: str, pick: RuleSelection, whole: Skill, folder: Path) -> Skill:
    asked = (*pick.rules, *pick.irreversible, *pick.breaks)
    if not pick.rules:
        raise BadInput(f"The skill folder {folder} picks no rules.")
    if strange := next((rule for rule in asked if rule not in whole.rules), None):
        raise BadInput(f"The skill folder {folder}: {whole.name} has no rule {strange!a}.")
    chosen = (whole.rules[rule] for rule in pick.rules)
    rules = {
        rule.id: replace(
            rule,
            irreversible=rule.irreversible or rule.id in pick.irreversible,
            breaks=pick.breaks.get(rule.id, rule.breaks),
        )
        for rule in chosen
    }
    of_these = {one.name: one for one in whole.parameters.values() if rules.keys() & set(one.rules)}
    again = whole.retuned
    return replace(
        whole,
        name=name,
        title=pick.title,
        rules=rules,
        mode=pick.mode or whole.mode,
        parameters=of_these,
        valued=whole.site_value_skill_name,
        retuned=again and (lambda values: apply_rule_selection(name, pick, again(values), folder)),
    )
