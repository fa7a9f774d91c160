"""Turns a rule's Ansible tasks into typed actions, by doing them on a scratch copy of the host's files."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, get_args

import yaml  # type: ignore[import-untyped]
from msgspec import ValidationError, convert

from app.candidates.imitated_ansible_modules import MODULES, is_true_for_ansible, spell_zero_as_root
from app.candidates.jinja_expressions import AnyPackage, fill_in, is_met
from app.candidates.predicted_output_of_ansible_commands import do_command_and_predict_output, read_expected_mounts
from app.candidates.scratch_files_to_actions import ScratchFiles, Undecidable
from app.events.event_field_types import AnyAction
from app.resources.mount import MountOption
from app.syntax import host_text
from app.syntax.host_files_protocol import Files

_WORDS = frozenset(
    host_text.split_blank_separated_names("""
        name tags when register loop with_items with_together block vars check_mode changed_when failed_when notify
        become args loop_control ignore_errors no_log delegate_to
    """)
)
_FACTS = frozenset(("package_facts", "setup", "service_facts", "debug", "assert", "meta", "gather_facts"))
_PACKAGES = frozenset(("package", "apt", "dnf", "yum"))
_UNITS = frozenset(("systemd", "service", "systemd_service"))
_UNIT_VERBS = {
    "masked": {"true": "mask", "yes": "mask", "false": "unmask", "no": "unmask"},
    "enabled": {"true": "enable", "yes": "enable", "false": "disable", "no": "disable"},
    "state": {"started": "start", "stopped": "stop"},
}
"""The verb for each value of an argument."""
_MOST_STEPS = 2000
_PAIR = re.compile(r"(?P<name>\w+)=(?P<quote>[\"']?)(?P<value>.*)(?P=quote)", re.DOTALL)


def translate_tasks(text: str, files: Files) -> tuple[AnyAction, ...]:
    """Return the typed actions that do what the tasks would do on this host.

    Raises Undecidable for tasks whose effect cannot be told, or that no typed action can have.
    """
    try:
        tasks = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as exc:
        raise Undecidable(f"The content's tasks are no YAML: {exc}") from exc
    if not isinstance(tasks, list):
        raise Undecidable("The content has no list of tasks.")
    play = _Play(files)
    play.do_tasks(tasks, ())
    return (*play.scratch.derive_actions(), *play.resources)


class _Play:
    def __init__(self, files: Files) -> None:
        self.scratch = ScratchFiles(files)
        self.resources: list[AnyAction] = []
        self._steps = 0
        mounts = read_expected_mounts(files)
        self._known: dict[str, Any] = {
            "ansible_facts": {"packages": AnyPackage(), "mounts": mounts},
            "ansible_mounts": mounts,
            "ansible_virtualization_type": "none",
            "ansible_check_mode": False,
            "ansible_architecture": "x86_64",
        }

    def do_tasks(self, tasks: Sequence[Any], conditions: tuple[Any, ...]) -> None:
        for task in tasks:
            if not isinstance(task, dict):
                raise Undecidable("A task of the content is no mapping.")
            asked = (*conditions, task["when"]) if "when" in task else conditions
            if "block" in task:
                self.do_tasks(task["block"], asked)
            else:
                self._do_task(task, asked)

    def _do_task(self, task: Mapping[str, Any], conditions: tuple[Any, ...]) -> None:
        module = next((name for name in task if name not in _WORDS), None)
        if module is None:
            raise Undecidable(f"The task {task.get('name', '')!r} names no module.")
        kind, name = module.rpartition(".")[2], task.get("register")
        if kind in _FACTS:
            return
        loop = self._list_loop_items(task)
        items = [None] if loop is None else loop
        results = [self._do_once(task, kind, task[module], item, conditions) for item in items]
        if name:
            last = results[-1] if results else {"skipped": True, "changed": False}
            self._known[name] = last if loop is None else {**last, "results": results}

    def _list_loop_items(self, task: Mapping[str, Any]) -> list[Any] | None:
        if "with_together" in task:
            columns = _require_list(fill_in(task["with_together"], self._known))
            return [list(row) for row in zip_longest(*map(_require_list_or_parse_literal, columns))]
        loop = task.get("loop", task.get("with_items"))
        if loop is None:
            return None
        items = fill_in(loop, self._known)
        return [
            one
            for part in _require_list(items)
            for one in (part if isinstance(part, list) and "with_items" in task else [part])
        ]

    def _do_once(
        self, task: Mapping[str, Any], kind: str, arguments: Any, item: Any, conditions: tuple[Any, ...]
    ) -> dict[str, Any]:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise Undecidable("The tasks take too many steps.")
        known = {**self._known, **({"item": item} if item is not None else {})}
        if not all(is_met(one, known) for one in conditions):
            return {"skipped": True, "changed": False}
        if kind == "command":
            return do_command_and_predict_output(fill_in(arguments, known), self.scratch)
        filled = fill_in(_to_mapping_if_single_name_value_pair(arguments), known)
        if kind == "set_fact":
            self._known |= filled if isinstance(filled, dict) else {}
            return {"changed": False}
        if kind in _PACKAGES:
            return self._add_package_actions(filled)
        if kind in _UNITS:
            return self._add_unit_actions(filled)
        if kind == "mount":
            return self._add_mount_options_action(filled)
        if (
            kind == "file"
            and isinstance(filled, dict)
            and (action := self._find_action_for_owner_or_folder_mode(filled))
        ):
            if task.get("check_mode") is not True:
                self._add_action(action)
            return {"changed": True, "item": item}
        if kind not in MODULES or not isinstance(filled, dict):
            raise Undecidable(f"The module {kind} does what cannot be told beforehand.")
        scratch = ScratchFiles(self.scratch.now) if task.get("check_mode") is True else self.scratch
        try:
            return {**MODULES[kind](filled, scratch), "item": item}
        except KeyError as exc:
            raise Undecidable(f"The module {kind} lacks {exc}.") from exc
        except (re.error, IndexError) as exc:  # a replacement that names an unknown group is an IndexError
            raise Undecidable(f"A pattern of the module {kind} is not one of this language: {exc}.") from exc

    def _add_package_actions(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        names = arguments.get("name", arguments.get("pkg", []))
        verb = "remove_package" if arguments.get("state") in ("absent", "removed") else "install_package"
        for name in [names] if isinstance(names, str) else names:
            self._add_action({"do": verb, "package": name})
        return {"changed": True}

    def _add_unit_actions(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        unit = str(arguments.get("name", ""))
        whole = unit if "." in unit else f"{unit}.service"
        for verb in _iterate_unit_verbs(arguments):
            self._add_action({"do": "set_unit", "unit": whole, "to": verb})
        return {"changed": True}

    def _add_mount_options_action(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Ask for the options alone: nothing is mounted that fstab does not have."""
        place, words = str(arguments.get("path", arguments.get("name", ""))), str(arguments.get("opts", "")).split(",")
        there = [one["options"].split(",") for one in read_expected_mounts(self.scratch.now) if one["mount"] == place]
        if not there:
            raise Undecidable(f"{place} has no line in /etc/fstab, and no file system is made here.")
        options = [word for word in get_args(MountOption) if word in words and word not in there[-1]]
        if options:
            self._add_action({"do": "add_mount_options", "mount": place, "options": options})
        return {"changed": bool(options)}

    def _find_action_for_owner_or_folder_mode(self, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the action for another owner or a folder's mode; None if the mode of a file is all that is asked.

        Raises Undecidable for a folder with all its content, and for a mode that depends on the one before.
        """
        if arguments.get("state") in ("absent", "link", "hard") or "src" in arguments:
            return None
        path, mode = str(arguments.get("path", arguments.get("dest", arguments.get("name", "")))), ""
        user, group = (spell_zero_as_root(arguments.get(one)) for one in ("owner", "group"))
        there = self.scratch.now.state(path)
        if self.scratch.now.is_folder(path):
            if is_true_for_ansible(arguments.get("recurse")):
                raise Undecidable(f"{path} would be changed with all that is in it.")
            mode = _read_octal_mode_or_blank_if_none(arguments.get("mode"), path)
        elif there is not None:
            owned_by, _, owned_group = there.owner.partition(":")
            user, group = "" if user == owned_by else user, "" if group == owned_group else group
            mode = _read_octal_mode_or_blank_if_none(arguments.get("mode"), path) if user or group else ""
        else:
            return None
        if not (user or group or mode):
            return None
        owner = user + (f":{group}" if group else "")
        return {"do": "set_permissions", "path": path, "mode": mode, "owner": owner}

    def _add_action(self, action: dict[str, Any]) -> None:
        try:
            made = convert(action, AnyAction)
        except ValidationError as exc:
            raise Undecidable(f"The tasks name {action} in a way that no typed action takes: {exc}") from exc
        if made not in self.resources:
            self.resources.append(made)


def _to_mapping_if_single_name_value_pair(arguments: Any) -> Any:
    """Return the arguments as a mapping: `name="{{ value }}"` is an older way to write them."""
    if isinstance(arguments, str) and (found := _PAIR.fullmatch(arguments)):
        return {found["name"]: found["value"]}
    return {} if arguments is None else arguments


def _read_octal_mode_or_blank_if_none(mode: Any, path: str) -> str:
    """Return the four digits of a mode, or nothing for None. Raises Undecidable for a symbolic mode."""
    if isinstance(mode, int):
        return f"{mode:04o}"
    if mode is None or re.fullmatch("[0-7]{3,4}", str(mode)):
        return "" if mode is None else str(mode).zfill(4)
    raise Undecidable(f"The mode {mode!r} of {path} depends on the one before.")


def _require_list_or_parse_literal(value: Any) -> list[Any]:
    """Return a list that a filter has made a text of, as Ansible does."""
    try:
        return _require_list(ast.literal_eval(value) if isinstance(value, str) else value)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as exc:
        raise Undecidable(f"{value[:60]!r} is no list to go over.") from exc


def _require_list(value: Any) -> list[Any]:
    """Return the list that a loop goes over. Raises Undecidable for anything else."""
    if not isinstance(value, list):
        raise Undecidable("A loop of the tasks goes over no list.")
    return value


def _iterate_unit_verbs(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, verbs in _UNIT_VERBS.items():
        if verb := verbs.get(str(arguments.get(name)).lower()):
            yield verb
