"""Builds the JSON Schema of a turn's answer from the current state, so that a valid answer is parseable and feasible.

Patterns use only what every engine's grammar supports: a class without quotes and backslashes, with a bound.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from app.events.architect_questions import QUESTIONS, HostQuestion
from app.events.vocabulary import fingerprint_actions
from app.loop import answers, change_choices
from app.loop.rule_terms import RuleTerms
from app.loop.shown_file import ShownFile
from app.resources.kind import Objection, ResourceAction
from app.syntax.option_edit import can_set_option
from app.targets.resources.offer import Offer
from app.targets.rule_scope import RuleScope, find_foreign_action, find_foreign_place

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
    """Fingerprints of actions that failed on this host."""
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
    def numbered_lines(self) -> dict[str, Mapping[int, str]]:
        """The lines, by path and number, that an answer may name."""
        return {file.path: file.whole for file in self.files}


def build_plan_schema(now: TurnSituation) -> Schema:
    plan = _build_own_plan_schema(now)
    if not now.may_ask:
        return plan
    questions = _build_array(_build_any_of([_build_question_schema(kind) for kind in QUESTIONS]), 1, now.may_ask)
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


def _build_own_plan_schema(now: TurnSituation) -> Schema:
    places = [one.place for one in now.offers]
    if now.guided:
        said = _build_text_schema(SHORT)
        own = _build_object({"approach": said, "paths": _build_guided_paths(now, places)})
        if not now.takeable:
            return own
        return {"anyOf": [_build_object({"approach": said, "candidate": {"enum": list(now.takeable)}}), own]}
    known = [*places, *now.paths]
    some: list[Schema] = [{"enum": known}] if known else []
    some += [{"type": "string", "pattern": _build_new_file_pattern(pattern)} for pattern in now.folders]
    where = _build_array(_build_any_of(some or [{"enum": ["/"]}]), 1, MOST_PATHS)
    said = _build_text_schema(LONG)
    steps = _build_array(said, 0, _FEW)
    takes = {"candidate": {"enum": [0, *now.takeable]}} if now.takeable else {}
    rest = {"paths": where, "steps": steps, "risk": said, "rollback": said, "validation": said}
    return _build_object({"approach": said} | takes | rest)


def _build_guided_paths(now: TurnSituation, places: list[str]) -> Schema:
    if now.joint_files:
        return {"const": list(now.joint_files)}
    changeable = [file.path for file in now.files if any(_build_guided_schemas(file, now))] or list(now.paths)
    paths = [*places, *changeable] or ["/"]
    return _build_array({"enum": paths}, 1, min(_FEW, len(paths)))


def build_act_schema(now: TurnSituation) -> Schema:
    if not now.guided:
        found = [one for file in now.files for one in _build_free_schemas(file, now)]
        found += _build_offer_schemas(now)
        if now.services or not found:
            found.append(
                _build_object({"do": {"const": "reload"}, "service": {"enum": list(now.services) or ["none"]}})
            )
        return _build_object(
            {"actions": _build_array(_build_any_of(found), 1, MOST_ACTIONS), "note": _build_text_schema(LONG)}
        )
    found = [*(one for file in now.files for one in _build_guided_schemas(file, now)), *_build_offer_schemas(now)]
    if not found:  # nothing from the rule applies: allow what any file can take
        found = [one for file in now.files for one in _build_free_schemas(file, now)]
    actions = {"actions": _build_untried_actions(found, now)}
    return _build_object(actions | ({"reload": {"enum": [*now.services, "none"]}} if now.services else {}))


def _build_untried_actions(found: list[Schema], now: TurnSituation) -> Schema:
    """Allow one action that has not failed yet, or several; only several if files must change together."""
    most = min(_FEW, len(found))
    alone = (
        [] if now.joint_files and most > 1 else [one for option in found for one in _remove_failed_values(option, now)]
    )
    if alone == found:
        return _build_array(_build_any_of(found), 1, most)
    ways = [_build_array(_build_any_of(alone), 1, 1)] if alone else []
    ways += [_build_array(_build_any_of(found), 2, most)] if most > 1 else []
    return _build_any_of(ways or [_build_array(_build_any_of(found), 1, most)])


def _remove_failed_values(option: Schema, now: TurnSituation) -> Iterable[Schema]:
    """Yield the option without failed values; only its last field has a choice."""
    fields = option["properties"]
    if not now.tried or not all("const" in one or "enum" in one for one in fields.values()):
        yield option
        return
    values = {name: one.get("enum") or [one["const"]] for name, one in fields.items()}
    last, choice = values.popitem()
    fixed = {name: first for name, (first, *_) in values.items()}
    left = [value for value in choice if not _has_failed({**fixed, last: value}, now)]
    if left:
        yield option if left == choice else _build_object({**fields, last: {"enum": left}})


def _has_failed(action: dict[str, Any], now: TurnSituation) -> bool:
    work = answers.parse_answer("act", json.dumps({"actions": [action]}), now.numbered_lines)
    assert isinstance(work, answers.Work)
    return fingerprint_actions(work.actions) in now.tried


def build_review_schema(now: TurnSituation) -> Schema:
    said = _build_text_schema(SHORT if now.guided else LONG)
    kept = _build_object({"explanation": said, "veto": {"const": False}}, {} if now.guided else {"reason": said})
    if not now.gamable:
        return kept
    return {"anyOf": [kept, _build_object({"explanation": said, "veto": {"const": True}, "reason": said})]}


def build_triage_schema(now: TurnSituation) -> Schema:
    said = _build_text_schema(SHORT if now.guided else LONG)
    quiet = _build_object({"assessment": said, "alarm": {"const": False}}, {} if now.guided else {"reason": said})
    if not now.trouble:
        return quiet
    over = {"enum": list(now.trouble)} if now.guided else said
    return {"anyOf": [quiet, _build_object({"assessment": said, "alarm": {"const": True}, "reason": over})]}


def build_reflect_schema(now: TurnSituation) -> Schema:
    said = _build_text_schema(SHORT if now.guided else LONG)
    decision = {"enum": ["CONTINUE", "PIVOT", "ESCALATE"] if now.weighs else ["CONTINUE"]}
    if now.guided:
        return _build_object({"mechanism": said, "advice": said, "decision": decision})
    return _build_object({"mechanism": said, "environment": said, "advice": said, "decision": decision, "reason": said})


def _build_offer_schemas(now: TurnSituation) -> list[Schema]:
    told = (msgspec.to_builtins(action) for one in now.offers for action in one.actions)
    return [_build_object({name: {"const": value} for name, value in fields.items()}) for fields in told]


def _build_guided_schemas(file: ShownFile, now: TurnSituation) -> Iterable[Schema]:
    path = {"const": file.path}
    if now.terms.modes and not file.is_absent:
        yield _build_object({"do": {"const": "chmod"}, "path": path, "mode": {"enum": list(now.terms.modes)}})
    if file.why_not and not file.is_absent:
        return
    for one in change_choices.list_set_choices(file.path, now.text(file.path), now.terms):
        key, value = {"const": one.key}, {"enum": list(one.values)}
        yield _build_object({"do": {"const": "set_option"}, "path": path, "key": key, "value": value})
    if can_set_option(file.path):
        return
    for one_line in change_choices.list_droppable_words(file, now.terms):
        number, word = {"enum": [one_line.number]}, {"enum": list(one_line.words)}
        yield _build_object({"do": {"const": "drop_word"}, "path": path, "number": number, "word": word})
        yield _build_object({"do": {"const": "remove_line"}, "path": path, "number": number})
    if now.terms.quoted_texts:
        line = {"enum": list(now.terms.quoted_texts)}
        yield _build_object({"do": {"const": "append_line"}, "path": path, "line": line})


def _build_free_schemas(file: ShownFile, now: TurnSituation) -> Iterable[Schema]:
    path, line = {"const": file.path}, {"type": "string", "maxLength": _LINE}
    if not file.is_absent:
        yield _build_object({"do": {"const": "chmod"}, "path": path, "mode": _MODE})
    keys = change_choices.list_keys(file.path, now.text(file.path), now.terms, all_of_them=True)
    if keys:
        key = {"enum": list(keys)}
        yield _build_object(
            {"do": {"const": "set_option"}, "path": path, "key": key, "value": _build_text_schema(LONG)}
        )
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


def _build_any_of(found: Sequence[Schema]) -> Schema:
    return found[0] if len(found) == 1 else {"anyOf": list(found)}


def _build_array(items: Schema, least: int, most: int) -> Schema:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def _build_object(fields: Schema, optional: Schema | None = None) -> Schema:
    return {
        "type": "object",
        "properties": fields | (optional or {}),
        "required": list(fields),
        "additionalProperties": False,
    }


def resolve_candidate(answer: answers.Answer, now: TurnSituation) -> answers.Answer:
    """Return the answer; a plan that takes a candidate covers exactly what it changes. Raises BrokenAnswer."""
    if not isinstance(answer, answers.Plan) or not answer.candidate:
        return answer
    if answer.candidate not in now.takeable:
        known = ", ".join(map(str, (0, *now.takeable)))
        raise answers.BrokenAnswer(f"candidate {answer.candidate} cannot be taken: the numbers are {known}")
    return msgspec.structs.replace(answer, paths=now.takeable[answer.candidate])


def find_foreign_part(answer: answers.Answer, now: TurnSituation) -> Objection | None:
    """Return the objection to the first thing in the answer that the rule does not name."""
    if now.scope is None:
        return None
    if isinstance(answer, answers.Plan):
        if answer.candidate:
            return None  # judged when it was gathered, and again before it runs
        return find_foreign_place(now.scope, answer.paths, now.candidates)
    return find_foreign_action(now.scope, answer.actions, now.candidates) if isinstance(answer, answers.Work) else None


SCHEMA_BUILDERS = {
    "plan": build_plan_schema,
    "act": build_act_schema,
    "review": build_review_schema,
    "triage": build_triage_schema,
    "reflect": build_reflect_schema,
}
