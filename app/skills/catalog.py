"""The catalog of skills: every folder beside this file that holds a pack.py or a skill.toml.

pack.py names a SKILL, or a function skill(argument) for `NAME:argument`; skill.toml picks rules of another skill.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from app.errors import BadInput
from app.skills.derived_skill import apply_rule_selection, read_rule_selection
from app.skills.skill import Skill

MODULE, TABLE = "pack.py", "skill.toml"


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
        return (
            self._load_module(folder, argument)
            if has_module
            else self._load_derived_skill(folder, argument, parent_folders)
        )

    def _load_module(self, folder: str, argument: str) -> Skill:
        try:
            module = import_module(f"{self.package}.{folder}.pack")
        except Exception as exc:
            why = f"{type(exc).__name__}: {exc}"
            raise BadInput(f"The skill folder {self.folder / folder} cannot be loaded: {why}") from exc
        make, ready = getattr(module, "skill", None), getattr(module, "SKILL", None)
        if isinstance(ready, Skill):
            return self._check_skill(ready, folder, argument)
        if not callable(make):
            raise BadInput(f"The skill folder {self.folder / folder}: {MODULE} names no SKILL and no skill(argument).")
        made = make(argument)
        assert isinstance(made, Skill)
        return made

    def _load_derived_skill(self, folder: str, argument: str, parent_folders: tuple[str, ...]) -> Skill:
        pick = read_rule_selection(self.folder / folder / TABLE)
        whole = self.load_skill(pick.of, (*parent_folders, folder))
        return self._check_skill(apply_rule_selection(folder, pick, whole, self.folder / folder), folder, argument)

    def _check_skill(self, skill: Skill, folder: str, argument: str) -> Skill:
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
