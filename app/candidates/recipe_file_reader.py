"""Reads people's recipe files: typed actions for a rule, as a TOML file that is named after its author."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.errors import BadInput
from app.events.event_field_types import RECIPE_OF, AnyAction
from app.lineups.toml_reader import TomlReader
from app.resources.vendor_script import RunVendorScript
from app.targets.planned_effects_of_actions import MOST_ACTIONS

LONGEST = 256 * 1024
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_RULE = re.compile(r"[A-Za-z0-9][\w.-]{0,255}", re.ASCII)


@dataclass(frozen=True)
class Recipe:
    rule: str
    name: str
    """The file's name without its ending."""
    actions: tuple[AnyAction, ...]

    @property
    def source(self) -> str:
        return f"{RECIPE_OF}{self.name}"


def load_folder_and_extra_recipes(folder: Path, extra_recipe_paths: Iterable[Path] = ()) -> tuple[Recipe, ...]:
    """Return the recipes of the given files, then those of the folder, if it exists. Raise BadInput for a wrong one."""
    paths = [*extra_recipe_paths, *sorted(folder.glob("*.toml"))]
    return tuple(recipe for path in dict.fromkeys(paths) for recipe in _read_recipe_file(path))


def _read_recipe_file(path: Path) -> tuple[Recipe, ...]:
    try:
        content = path.read_bytes()
    except OSError as exc:
        raise BadInput(f"{path} cannot be read ({exc.strerror}): give the path of a recipe file.") from exc
    if len(content) > LONGEST:
        raise BadInput(f"{path} has {len(content)} bytes; the limit is {LONGEST}.")
    if not _NAME.fullmatch(path.stem):
        raise BadInput(f"{path} needs a name of letters, digits, dots and dashes: it is shown as the recipe's source.")
    reader = _RecipeReader(path, content)
    return tuple(Recipe(rule, path.stem, reader.read_actions(rule)) for rule in reader.document)


class _RecipeReader(TomlReader):
    def read_actions(self, rule: str) -> tuple[AnyAction, ...]:
        if not _RULE.fullmatch(rule):
            self.reject((), rule, f"{rule[:60]!a} is not the id of a rule")
        tables = self.document[rule]
        if not isinstance(tables, list) or not 0 < len(tables) <= MOST_ACTIONS:
            self.reject((), rule, f'{rule} needs 1 to {MOST_ACTIONS} actions, each as a table [["{rule}"]] with do = …')
        return tuple(self._read_action(rule, place, table) for place, table in enumerate(tables))

    def _read_action(self, rule: str, index: int, table: object) -> AnyAction:
        try:
            action: AnyAction = msgspec.convert(table, AnyAction)
        except msgspec.ValidationError as exc:
            self.reject((rule, str(index)), "", f"action {index + 1} of {rule}: {str(exc)[:300]}")
        if isinstance(action, RunVendorScript):
            self.reject((rule, str(index)), "", "a vendor's script is taken from the content: use the other actions")
        fields = msgspec.structs.asdict(action).items()
        if any(name != "content" and isinstance(value, str) and value.endswith("\n") for name, value in fields):
            self.reject((rule, str(index)), "", "a path, key or line ends in a newline: leave it out")
        return action
