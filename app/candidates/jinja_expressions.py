"""Jinja expressions of Ansible tasks, evaluated in a sandbox over what the tasks before have registered."""

import re
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from app.candidates.scratch_files_to_actions import Undecidable

_WHOLE = re.compile(r"\s*\{\{(?P<inside>(?:(?!\}\}).)*)\}\}\s*", re.DOTALL)
_LONGEST = 4000
_FAILURES = (TemplateError, SecurityError, TypeError, ValueError, KeyError, AttributeError, ArithmeticError, re.error)


class AnyPackage:
    """The packages of a host for which the scanner has found that the rule applies: those that a task asks for."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)


def _convert_bool(value: object) -> bool:
    return str(value).lower() in ("true", "yes", "on", "1")


def _flatten_list(values: Iterable[Any]) -> list[Any]:
    return [one for value in values for one in (_flatten_list(value) if isinstance(value, list) else [value])]


_FILTERS: Mapping[str, Callable[..., Any]] = {
    "regex_replace": lambda text, pattern, by="": re.sub(pattern, by, str(text)),
    "regex_escape": lambda text: re.escape(str(text)),
    "bool": _convert_bool,
    "flatten": _flatten_list,
    "combine": lambda *mappings: {key: value for one in mappings for key, value in one.items()},
    "dict2items": lambda mapping: [{"key": key, "value": value} for key, value in mapping.items()],
    "difference": lambda one, other: [value for value in one if value not in other],
    "intersect": lambda one, other: [value for value in one if value in other],
    "union": lambda one, other: list(dict.fromkeys([*one, *other])),
}


def _create_environment() -> ImmutableSandboxedEnvironment:
    made = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
    made.filters |= _FILTERS
    made.tests |= {
        "match": lambda text, pattern: re.match(pattern, str(text)) is not None,
        "search": lambda text, pattern: re.search(pattern, str(text)) is not None,
        "skipped": lambda found: bool(found.get("skipped")),
        "changed": lambda found: bool(found.get("changed")),
    }
    return made


_ENVIRONMENT = _create_environment()


def fill_in(value: Any, known: Mapping[str, Any]) -> Any:
    """Return a task's argument with its expressions evaluated, in lists and mappings too. Raises Undecidable."""
    if isinstance(value, str) and "{{" in value:
        whole = _WHOLE.fullmatch(value)
        return evaluate_expression(whole["inside"], known) if whole else _render_to_string(value, known)
    if isinstance(value, list):
        return [fill_in(one, known) for one in value]
    if isinstance(value, dict):
        return {name: fill_in(one, known) for name, one in value.items()}
    return value


def evaluate_expression(expression: str, known: Mapping[str, Any]) -> Any:
    """Return the value of an expression. Raises Undecidable."""
    if len(expression) > _LONGEST:
        raise Undecidable("An expression of the tasks is too long to be read.")
    try:
        found = _ENVIRONMENT.compile_expression(expression, undefined_to_none=False)(**known)
        return list(found) if isinstance(found, Generator) else found
    except _FAILURES as exc:
        raise Undecidable(f"The expression {expression.strip()[:80]!r} cannot be evaluated: {exc}") from exc


def is_met(when: Any, known: Mapping[str, Any]) -> bool:
    """Return whether a task's conditions hold; all of a list must. Raises Undecidable."""
    conditions = when if isinstance(when, list) else [when]
    return all(_is_true(one, known) for one in conditions)


def _is_true(condition: Any, known: Mapping[str, Any]) -> bool:
    found = evaluate_expression(condition, known) if isinstance(condition, str) else condition
    return _convert_bool(found) if isinstance(found, str) else bool(found)


def _render_to_string(text: str, known: Mapping[str, Any]) -> str:
    if len(text) > _LONGEST:
        raise Undecidable("A text of the tasks is too long to be read.")
    try:
        return _ENVIRONMENT.from_string(text).render(**known)
    except _FAILURES as exc:
        raise Undecidable(f"{text[:80]!r} cannot be filled in: {exc}") from exc
