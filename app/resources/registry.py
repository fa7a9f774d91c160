"""All kinds of resources that are not files, a module each. Unions, schemas and prompts derive from their `KIND`."""

import itertools
import pkgutil
import re
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from app.resources.kind import ForeseenStates, Objection, ResourceAction, ResourceKind, RuleTexts, match_state

_DECLARED = (import_module(f"{__package__}.{found.name}") for found in pkgutil.iter_modules([Path(__file__).parent]))
KINDS: tuple[ResourceKind[Any], ...] = tuple(module.KIND for module in _DECLARED if hasattr(module, "KIND"))

RESOURCE_ACTIONS: tuple[type[ResourceAction], ...] = tuple(action for kind in KINDS for action in kind.actions)
PLACE_PATTERN = f"^(/|{'|'.join(kind.prefix for kind in KINDS)})[^\\x00-\\x1f]*$"
"""A path, or kind and name of another resource."""
_BY_ACTION = {action: kind for kind in KINDS for action in kind.actions}
_BY_NAME = {kind.name: kind for kind in KINDS}
_WORD = re.compile(r"[A-Za-z0-9@%_+=:,./-]+")
_MOST = 24


def get_kind(action: ResourceAction) -> ResourceKind[Any]:
    return _BY_ACTION[type(action)]


def get_prefixed_name_of_changed_resource(action: ResourceAction) -> str:
    """Return the name in plans, diffs and journals, such as `unit:sshd.service`."""
    return f"{get_kind(action).prefix}{getattr(action, action.__struct_fields__[0])}"


def is_wanted_state_reached(resource_name: str, wanted: str, found: str) -> bool:
    kind = _BY_NAME.get(resource_name.partition(":")[0])
    return (kind.match_state if kind else match_state)(wanted, found)


def judge_states(foreseen: ForeseenStates) -> Objection | None:
    return next((found for kind in KINDS if (found := kind.judge_states(foreseen))), None)


def format_action_as_input_line_for_host_script(action: ResourceAction) -> str:
    """Return the line for the host's scripts: kind, name and words. Raises ValueError if a word is not plain."""
    kind, name = get_prefixed_name_of_changed_resource(action).split(":", 1)
    words = [kind, name, *get_kind(action).list_words(action)]
    for word in words:
        if not _WORD.fullmatch(word):
            raise ValueError(f"{word!a} is no word to send to a shell")
    return " ".join(words)


def find_candidates(rule: RuleTexts) -> tuple[ResourceAction, ...]:
    """Return the actions that the rule's texts could want, on so many resources; no role can propose others."""
    found: dict[str, list[ResourceAction]] = {}
    for action in itertools.chain.from_iterable(kind.find_candidates(rule) for kind in KINDS if kind.find_candidates):
        if _is_well_formed(action):
            found.setdefault(get_prefixed_name_of_changed_resource(action), []).append(action)
    return tuple(dict.fromkeys(action for place in list(found)[:_MOST] for action in found[place]))


def _is_well_formed(action: ResourceAction) -> bool:
    with suppress(ValueError):  # a ValidationError is one
        msgspec.convert(msgspec.to_builtins(action), type(action))
        return bool(format_action_as_input_line_for_host_script(action))
    return False


def describe_answer_forms() -> str:
    """Return the form of each action that a role may propose, for the prompt."""
    told = (action for kind in KINDS if kind.find_candidates for action in kind.actions)
    return " | ".join(f"{action.__struct_config__.tag}{{{','.join(action.__struct_fields__)}}}" for action in told)
