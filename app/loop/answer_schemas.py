"""Builds the JSON Schema of a turn's answer from the current state, so that a valid answer is parseable and feasible.

Patterns use only what every engine's grammar supports: a class without quotes and backslashes, with a bound.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from app.events.architect_questions_about_host import QUESTIONS, HostQuestion
from app.events.event_field_types import fingerprint_actions
from app.loop import answers, file_edit_choices_for_roles
from app.loop.rule_terms import RuleTerms
from app.loop.shown_file import ShownFile
from app.resources.kind import Objection, ResourceAction
from app.syntax.option_writing_by_file_path import can_set_option
from app.targets.resources.available_actions import Offer
from app.targets.rule_scope import RuleScope, find_foreign_action_objection, find_unnamed_place_objection

Schema = dict[str, Any]

LONG, SHORT = 300, 120
"""Maximum characters of a sentence; SHORT for guided answers."""
MOST_PATHS, MOST_ACTIONS = 8, 12
_FEW = 4
_PLAIN = r'[^"\\\x00-\x1f\x7f]'
_NEW_NAME = "[a-z0-9][a-z0-9_-]{0,31}"
_RUN = 120
"""xgrammar 0.2.8 accepts pattern repetitions above 128, but then builds no grammar."""
_MODE = {"type": "string", "pattern": "^0[0-7]{3}$"}
_LINE, _CONTENT = 400, 4096
_FIRST_LINES = (1, 40, 80, 160, 320, 640)
"""Where a shown part of a file may begin."""


@dataclass(frozen=True)
class TurnSituation:
    """What the answer of a turn may refer to."""

    terms: RuleTerms
    files: tuple[ShownFile, ...] = ()
    """Files shown to the role; for purpose `act`, those of the plan."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Their whole content by path, without absent files."""
    paths: tuple[str, ...] = ()
    """Paths that a plan may name."""
    folders: tuple[str, ...] = ()
    """Patterns of new files that a plan may name."""
    services: tuple[str, ...] = ()
    offers: tuple[Offer, ...] = ()
    """Resources other than files, each with its possible actions."""
    trouble: tuple[str, ...] = ()
    """Observations over which the Sentry may raise an alarm."""
    gamable: bool = True
    """There is a passing verdict that could be vetoed."""
    weighs: bool = True
    """The decision of a reflection counts."""
    tried: frozenset[str] = frozenset()
    """Fingerprints of actions that failed on this host or that a person refused."""
    joint_files: tuple[str, ...] = ()
    """Files that must be changed in the same attempt."""
    scope: RuleScope | None = None
    """What the rule names; an answer about anything else is refused."""
    candidates: tuple[ResourceAction, ...] = ()
    """Actions on other resources that the rule could want, possible or not."""
    takeable: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """What the content and recipes propose, by number, with the places that it would change; a plan may take one."""
    may_ask: int = 0
    """How many questions about the host the Architect may ask before it plans."""
    guided: bool = False
    """Limit keys, values and lines to those in the rule and its files."""

    def text(self, path: str) -> str:
        return self.texts.get(path, "")

    @property
    def lines_by_path_and_number(self) -> dict[str, Mapping[int, str]]:
        """The lines, by path and number, that an answer may name."""
        return {file.path: file.whole for file in self.files}


def build_plan_schema(situation: TurnSituation) -> Schema:
    plan = _build_schema_without_questions(situation)
    if not situation.may_ask:
        return plan
    questions = _build_array(_build_any_of([_build_question_schema(kind) for kind in QUESTIONS]), 1, situation.may_ask)
    return {"anyOf": [plan, _build_object({"why": _build_text_schema(LONG), "questions": questions})]}


def _build_question_schema(kind: type[HostQuestion]) -> Schema:
    fields: Schema = {"ask": {"const": kind.__struct_config__.tag}}
    for one in msgspec.structs.fields(kind):
        match found := msgspec.inspect.type_info(one.type):
            case msgspec.inspect.LiteralType():
                fields[one.name] = {"enum": list(found.values)}
            case msgspec.inspect.StrType():
                fields[one.name] = {"type": "string", "pattern": found.pattern}
            case _:
                fields[one.name] = {"enum": list(_FIRST_LINES)}
    return _build_object(fields)


def _build_schema_without_questions(situation: TurnSituation) -> Schema:
    places = [one.place for one in situation.offers]
    if situation.guided:
        said = _build_text_schema(SHORT)
        own = _build_object({"approach": said, "paths": _build_guided_paths_schema(situation, places)})
        if not situation.takeable:
            return own
        return {"anyOf": [_build_object({"approach": said, "candidate": {"enum": list(situation.takeable)}}), own]}
    known = [*places, *situation.paths]
    some: list[Schema] = [{"enum": known}] if known else []
    some += [{"type": "string", "pattern": _build_new_file_pattern(pattern)} for pattern in situation.folders]
    where = _build_array(_build_any_of(some or [{"enum": ["/"]}]), 1, MOST_PATHS)
    said = _build_text_schema(LONG)
    steps = _build_array(said, 0, _FEW)
    takes = {"candidate": {"enum": [0, *situation.takeable]}} if situation.takeable else {}
    rest = {"paths": where, "steps": steps, "risk": said, "rollback": said, "validation": said}
    return _build_object({"approach": said} | takes | rest)


def _build_guided_paths_schema(situation: TurnSituation, resource_places: list[str]) -> Schema:
    if situation.joint_files:
        return {"const": list(situation.joint_files)}
    changeable = [file.path for file in situation.files if any(_build_guided_schemas(file, situation))]
    paths = [*resource_places, *(changeable or situation.paths)] or ["/"]
    return _build_array({"enum": paths}, 1, min(_FEW, len(paths)))


def build_act_schema(situation: TurnSituation) -> Schema:
    if not situation.guided:
        found = [one for file in situation.files for one in _build_free_schemas(file, situation)]
        found += _build_resource_action_schemas(situation)
        if situation.services or not found:
            service = {"enum": list(situation.services) or ["none"]}
            found.append(_build_object({"do": {"const": "reload"}, "service": service}))
        changes = _build_array(_build_any_of(found), 1, MOST_ACTIONS)
        return _build_object({"actions": changes, "note": _build_text_schema(LONG)})
    found = [one for file in situation.files for one in _build_guided_schemas(file, situation)]
    found += _build_resource_action_schemas(situation)
    if not found:  # nothing from the rule applies: allow what any file can take
        found = [one for file in situation.files for one in _build_free_schemas(file, situation)]
    actions = {"actions": _build_one_untried_or_several_actions_schema(found, situation)}
    return _build_object(actions | ({"reload": {"enum": [*situation.services, "none"]}} if situation.services else {}))


def _build_one_untried_or_several_actions_schema(options: list[Schema], situation: TurnSituation) -> Schema:
    """Allow one action that has not failed yet, or several; only several if files must change together."""
    most = min(_FEW, len(options))
    alone: list[Schema] = []
    if not (situation.joint_files and most > 1):
        alone = [one for option in options for one in _remove_failed_values(option, situation)]
    if alone == options:
        return _build_array(_build_any_of(options), 1, most)
    ways = [_build_array(_build_any_of(alone), 1, 1)] if alone else []
    ways += [_build_array(_build_any_of(options), 2, most)] if most > 1 else []
    return _build_any_of(ways or [_build_array(_build_any_of(options), 1, most)])


def _remove_failed_values(option: Schema, situation: TurnSituation) -> Iterable[Schema]:
    """Yield the option without failed values; only its last field has a choice."""
    fields = option["properties"]
    if not situation.tried or not all("const" in one or "enum" in one for one in fields.values()):
        yield option
        return
    values = {name: one.get("enum") or [one["const"]] for name, one in fields.items()}
    last, choice = values.popitem()
    fixed = {name: first for name, (first, *_) in values.items()}
    left = [value for value in choice if not _has_failed({**fixed, last: value}, situation)]
    if left:
        yield option if left == choice else _build_object({**fields, last: {"enum": left}})


def _has_failed(action: dict[str, Any], situation: TurnSituation) -> bool:
    work = answers.parse_answer("act", json.dumps({"actions": [action]}), situation.lines_by_path_and_number)
    assert isinstance(work, answers.Work)
    return fingerprint_actions(work.actions) in situation.tried


def build_review_schema(situation: TurnSituation) -> Schema:
    said = _build_text_schema(SHORT if situation.guided else LONG)
    kept = _build_object({"explanation": said, "veto": {"const": False}}, {} if situation.guided else {"reason": said})
    if not situation.gamable:
        return kept
    return {"anyOf": [kept, _build_object({"explanation": said, "veto": {"const": True}, "reason": said})]}


def build_triage_schema(situation: TurnSituation) -> Schema:
    said = _build_text_schema(SHORT if situation.guided else LONG)
    quiet = _build_object({"assessment": said, "alarm": {"const": False}}, {} if situation.guided else {"reason": said})
    if not situation.trouble:
        return quiet
    over = {"enum": list(situation.trouble)} if situation.guided else said
    return {"anyOf": [quiet, _build_object({"assessment": said, "alarm": {"const": True}, "reason": over})]}


def build_reflect_schema(situation: TurnSituation) -> Schema:
    said = _build_text_schema(SHORT if situation.guided else LONG)
    decision = {"enum": ["CONTINUE", "PIVOT", "ESCALATE"] if situation.weighs else ["CONTINUE"]}
    if situation.guided:
        return _build_object({"mechanism": said, "advice": said, "decision": decision})
    return _build_object({"mechanism": said, "environment": said, "advice": said, "decision": decision, "reason": said})


def _build_resource_action_schemas(situation: TurnSituation) -> list[Schema]:
    told = (msgspec.to_builtins(action) for one in situation.offers for action in one.actions)
    return [_build_object({name: {"const": value} for name, value in fields.items()}) for fields in told]


def _build_guided_schemas(file: ShownFile, situation: TurnSituation) -> Iterable[Schema]:
    path = {"const": file.path}
    if situation.terms.modes and not file.is_absent:
        yield _build_object({"do": {"const": "chmod"}, "path": path, "mode": {"enum": list(situation.terms.modes)}})
    if file.why_not and not file.is_absent:
        return
    for one in file_edit_choices_for_roles.list_set_choices(file.path, situation.text(file.path), situation.terms):
        key, value = {"const": one.key}, {"enum": list(one.values)}
        yield _build_object({"do": {"const": "set_option"}, "path": path, "key": key, "value": value})
    if can_set_option(file.path):
        return
    for one_line in file_edit_choices_for_roles.list_droppable_words(file, situation.terms):
        number, word = {"enum": [one_line.number]}, {"enum": list(one_line.words)}
        yield _build_object({"do": {"const": "drop_word"}, "path": path, "number": number, "word": word})
        yield _build_object({"do": {"const": "remove_line"}, "path": path, "number": number})
    if situation.terms.quoted_texts:
        line = {"enum": list(situation.terms.quoted_texts)}
        yield _build_object({"do": {"const": "append_line"}, "path": path, "line": line})


def _build_free_schemas(file: ShownFile, situation: TurnSituation) -> Iterable[Schema]:
    path, line = {"const": file.path}, {"type": "string", "maxLength": _LINE}
    if not file.is_absent:
        yield _build_object({"do": {"const": "chmod"}, "path": path, "mode": _MODE})
    keys = file_edit_choices_for_roles.list_option_keys(
        file.path, situation.text(file.path), situation.terms, all_of_them=True
    )
    if keys:
        key, value = {"enum": list(keys)}, _build_text_schema(LONG)
        yield _build_object({"do": {"const": "set_option"}, "path": path, "key": key, "value": value})
    if file.whole:
        number = {"enum": list(file.whole)}
        yield _build_object({"do": {"const": "replace_line"}, "path": path, "number": number, "new": line})
        yield _build_object({"do": {"const": "remove_line"}, "path": path, "number": number})
    if file.cut or (file.why_not and not file.is_absent):  # a line that is not shown has no number
        yield _build_object({"do": {"const": "replace_line"}, "path": path, "old": line, "new": line})
        yield _build_object({"do": {"const": "remove_line"}, "path": path, "line": line})
    yield _build_object({"do": {"const": "append_line"}, "path": path, "line": line})
    content = {"type": "string", "maxLength": _CONTENT}
    yield _build_object({"do": {"const": "write_file"}, "path": path, "content": content, "mode": _MODE})


def _build_new_file_pattern(pattern: str) -> str:
    folder, _, name = pattern.rpartition("/")
    return f"^{re.escape(folder)}/{re.escape(name).replace(re.escape('*'), _NEW_NAME)}$"


def _build_text_schema(most: int) -> Schema:
    """Return a text schema with one parse per length: with ambiguous bounds xgrammar needs seconds per token."""
    whole = [f"{_PLAIN}{{{_RUN}}}" * before for before in range(-(-most // _RUN))]
    ends = (f"{_PLAIN}{{{min(1, n)},{min(_RUN, most - n * _RUN)}}}" for n in range(len(whole)))
    ways = [begun + end for begun, end in zip(whole, ends, strict=True)]
    return {"type": "string", "pattern": f"^({'|'.join(ways)})$" if len(ways) > 1 else f"^{ways[0]}$"}


def _build_any_of(options: Sequence[Schema]) -> Schema:
    return options[0] if len(options) == 1 else {"anyOf": list(options)}


def _build_array(items: Schema, least: int, most: int) -> Schema:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def _build_object(fields: Schema, optional: Schema | None = None) -> Schema:
    properties = fields | (optional or {})
    return {"type": "object", "properties": properties, "required": list(fields), "additionalProperties": False}


def resolve_candidate_paths(answer: answers.Answer, situation: TurnSituation) -> answers.Answer:
    """Return the answer; a plan that takes a candidate covers exactly what it changes. Raises BrokenAnswer."""
    if not isinstance(answer, answers.Plan) or not answer.candidate:
        return answer
    if answer.candidate not in situation.takeable:
        known = ", ".join(map(str, (0, *situation.takeable)))
        raise answers.BrokenAnswer(f"candidate {answer.candidate} cannot be taken: the numbers are {known}")
    return msgspec.structs.replace(answer, paths=situation.takeable[answer.candidate])


def find_scope_objection(answer: answers.Answer, situation: TurnSituation) -> Objection | None:
    """Return the objection to the first thing in the answer that the rule does not name."""
    if situation.scope is None:
        return None
    if isinstance(answer, answers.Plan):
        if answer.candidate:
            return None  # judged when it was gathered, and again before it runs
        return find_unnamed_place_objection(situation.scope, answer.paths, situation.candidates)
    if isinstance(answer, answers.Work):
        return find_foreign_action_objection(situation.scope, answer.actions, situation.candidates)
    return None


SCHEMA_BUILDERS = {
    "plan": build_plan_schema,
    "act": build_act_schema,
    "review": build_review_schema,
    "triage": build_triage_schema,
    "reflect": build_reflect_schema,
}
