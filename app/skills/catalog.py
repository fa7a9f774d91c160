"""The catalog of skills: every folder beside this file that holds a pack.py or a skill.toml.

pack.py names a SKILL, or a function skill(argument) for `NAME:argument`; skill.toml picks rules of another skill.
"""

import tomllib
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

import msgspec

from app.errors import BadInput
from app.events.event_field_types import Mode
from app.skills.skill import Skill

MODULE, TABLE = "pack.py", "skill.toml"


class RuleSelection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a skill.toml says."""

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


def apply_rule_selection(name: str, pick: RuleSelection, whole: Skill, folder_named_in_errors: Path) -> Skill:
    asked = (*pick.rules, *pick.irreversible, *pick.breaks)
    if not pick.rules:
        raise BadInput(f"The skill folder {folder_named_in_errors} picks no rules.")
    if strange := next((rule for rule in asked if rule not in whole.rules), None):
        raise BadInput(f"The skill folder {folder_named_in_errors}: {whole.name} has no rule {strange!a}.")
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
        retuned=again and (lambda values: apply_rule_selection(name, pick, again(values), folder_named_in_errors)),
    )


@dataclass(frozen=True)
class Catalog:
    folder: Path
    package: str
    """Import path of the folder."""

    def list_names(self) -> list[str]:
        return sorted(one.name for one in self.folder.iterdir() if one.is_dir() and one.name[0] not in "._")

    def load_skill(self, name: str, parent_folders: tuple[str, ...] = ()) -> Skill:
        """Load a skill by name. `parent_folders`: the folders that led here, to detect cycles. Raises BadInput."""
        folder, _, argument = name.partition(":")
        if folder not in self.list_names():
            raise BadInput(f"There is no skill {name!a}; choose one of {', '.join(self.list_names())}.")
        if folder in parent_folders:
            raise BadInput(f"The skill folder {self.folder / folder} includes itself through {parent_folders[-1]}.")
        has_module, has_table = ((self.folder / folder / part).is_file() for part in (MODULE, TABLE))
        if has_module == has_table:
            found = "both of them" if has_module else "neither"
            raise BadInput(f"The skill folder {self.folder / folder} needs a {MODULE} or a {TABLE}; it has {found}.")
        if has_module:
            return self._load_module(folder, argument)
        return self._load_derived_skill_refusing_any_argument(folder, argument, parent_folders)

    def _load_module(self, folder: str, argument: str) -> Skill:
        try:
            module = import_module(f"{self.package}.{folder}.pack")
        except Exception as exc:
            why = f"{type(exc).__name__}: {exc}"
            raise BadInput(f"The skill folder {self.folder / folder} cannot be loaded: {why}") from exc
        make, ready = getattr(module, "skill", None), getattr(module, "SKILL", None)
        if isinstance(ready, Skill):
            return self._require_folder_name_and_no_argument(ready, folder, argument)
        if not callable(make):
            raise BadInput(f"The skill folder {self.folder / folder}: {MODULE} names no SKILL and no skill(argument).")
        made = make(argument)
        assert isinstance(made, Skill)
        return made

    def _load_derived_skill_refusing_any_argument(
        self, folder: str, argument: str, parent_folders: tuple[str, ...]
    ) -> Skill:
        pick = read_rule_selection(self.folder / folder / TABLE)
        whole = self.load_skill(pick.of, (*parent_folders, folder))
        return self._require_folder_name_and_no_argument(
            apply_rule_selection(folder, pick, whole, self.folder / folder), folder, argument
        )

    def _require_folder_name_and_no_argument(self, skill: Skill, folder: str, argument: str) -> Skill:
        if argument:
            raise BadInput(f"The skill {folder!a} takes no argument after a colon: use {folder} alone.")
        if skill.name != folder:
            raise BadInput(
                f"The skill folder {self.folder / folder} names its skill {skill.name!a}: the names must match."
            )
        return skill


SHIPPED = Catalog(Path(__file__).parent, "app.skills")


def load_skill(name: str) -> Skill:
    return SHIPPED.load_skill(name)


def suggest_rules(rule_id: str, skill: Skill) -> list[str]:
    """Return up to three rule ids similar to `rule_id`, by V-number or STIG id."""
    names = {name: rule.id for rule in skill.rules.values() for name in (rule.id, rule.stig_id)}
    asked = rule_id.strip()[:40]
    close = [*get_close_matches(asked.upper(), names, n=6, cutoff=0.6), *get_close_matches(asked, names, n=6)]
    return list(dict.fromkeys(names[name] for name in close))[:3]
