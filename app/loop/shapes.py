"""Builds the JSON Schema of a turn's answer from the current state, so that a valid answer is parseable and feasible.

Patterns use only what every engine's grammar supports: a class without quotes and backslashes, with a bound.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from app.loop import answers, choices
from app.loop.named import Named
from app.loop.shown import ShownFile
from app.syntax.edit import knows
from app.targets.resources.offer import Offer

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
_ANY_PATH = {"type": "string", "pattern": "^(/[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,47}){1,5}$"}
"""Other paths that an unguided role may name; the policy decides about them."""


@dataclass(frozen=True)
class TurnSituation:
    """What the answer of a turn may refer to."""

    named: Named
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
    together: tuple[str, ...] = ()
    """Files that must be changed in the same attempt."""
    guided: bool = False
    """Limit keys, values and lines to those in the rule and its files."""

    def text(self, path: str) -> str:
        return self.texts.get(path, "")

    @property
    def lines(self) -> dict[str, Mapping[int, str]]:
        """The lines, by path and number, that an answer may name."""
        return {file.path: file.whole for file in self.files}


def plan(now: TurnSituation) -> Schema:
    places = [one.place for one in now.offers]
    if now.guided:
        paths = [file.path for file in now.files if any(_guided(file, now))] or list(now.paths)
        if now.together:
            return _object({"approach": _text(SHORT), "paths": {"const": list(now.together)}})
        paths = [*places, *paths] or ["/"]
        return _object({"approach": _text(SHORT), "paths": _list({"enum": paths}, 1, min(_FEW, len(paths)))})
    known = [*places, *now.paths]
    some: list[Schema] = [{"enum": known}] if known else []
    some += [{"type": "string", "pattern": _new_file(pattern)} for pattern in now.folders]
    where = _list(_any([*some, _ANY_PATH]), 1, MOST_PATHS)
    said = _text(LONG)
    steps = _list(said, 0, _FEW)
    return _object(
        {"approach": said, "paths": where, "steps": steps, "risk": said, "rollback": said, "validation": said}
    )


def act(now: TurnSituation) -> Schema:
    if not now.guided:
        found = [one for file in now.files for one in _free(file, now)]
        found += _offered(now)
        found.append(_object({"do": {"const": "reload"}, "service": {"enum": list(now.services)}}))
        return _object({"actions": _list(_any(found), 1, MOST_ACTIONS), "note": _text(LONG)})
    found = [*(one for file in now.files for one in _guided(file, now)), *_offered(now)]
    if not found:  # nothing from the rule applies: allow what any file can take
        found = [one for file in now.files for one in _free(file, now)]
    actions = {"actions": _untried(found, now)}
    return _object(actions | ({"reload": {"enum": [*now.services, "none"]}} if now.services else {}))


def _untried(found: list[Schema], now: TurnSituation) -> Schema:
    """Allow one action that has not failed yet, or several; only several if files must change together."""
    most = min(_FEW, len(found))
    alone = [] if now.together and most > 1 else [one for option in found for one in _left(option, now)]
    if alone == found:
        return _list(_any(found), 1, most)
    ways = [_list(_any(alone), 1, 1)] if alone else []
    ways += [_list(_any(found), 2, most)] if most > 1 else []
    return _any(ways or [_list(_any(found), 1, most)])


def _left(option: Schema, now: TurnSituation) -> Iterable[Schema]:
    """Yield the option without failed values; only its last field has a choice."""
    fields = option["properties"]
    if not now.tried or not all("const" in one or "enum" in one for one in fields.values()):
        yield option
        return
    values = {name: one.get("enum") or [one["const"]] for name, one in fields.items()}
    last, choice = values.popitem()
    fixed = {name: first for name, (first, *_) in values.items()}
    left = [value for value in choice if not _failed({**fixed, last: value}, now)]
    if left:
        yield option if left == choice else _object({**fields, last: {"enum": left}})


def _failed(action: dict[str, Any], now: TurnSituation) -> bool:
    work = answers.read("act", json.dumps({"actions": [action]}), now.lines)
    assert isinstance(work, answers.Work)
    return answers.fingerprint(work.actions) in now.tried


def review(now: TurnSituation) -> Schema:
    said = _text(SHORT if now.guided else LONG)
    kept = _object({"explanation": said, "veto": {"const": False}}, {} if now.guided else {"reason": said})
    if not now.gamable:
        return kept
    return {"anyOf": [kept, _object({"explanation": said, "veto": {"const": True}, "reason": said})]}


def triage(now: TurnSituation) -> Schema:
    said = _text(SHORT if now.guided else LONG)
    quiet = _object({"assessment": said, "alarm": {"const": False}}, {} if now.guided else {"reason": said})
    if not now.trouble:
        return quiet
    over = {"enum": list(now.trouble)} if now.guided else said
    return {"anyOf": [quiet, _object({"assessment": said, "alarm": {"const": True}, "reason": over})]}


def reflect(now: TurnSituation) -> Schema:
    said = _text(SHORT if now.guided else LONG)
    decision = {"enum": ["CONTINUE", "PIVOT", "ESCALATE"] if now.weighs else ["CONTINUE"]}
    if now.guided:
        return _object({"mechanism": said, "advice": said, "decision": decision})
    return _object({"mechanism": said, "environment": said, "advice": said, "decision": decision, "reason": said})


def _offered(now: TurnSituation) -> list[Schema]:
    told = (msgspec.to_builtins(action) for one in now.offers for action in one.actions)
    return [_object({name: {"const": value} for name, value in fields.items()}) for fields in told]


def _guided(file: ShownFile, now: TurnSituation) -> Iterable[Schema]:
    path = {"const": file.path}
    if now.named.modes and not file.absent:
        yield _object({"do": {"const": "chmod"}, "path": path, "mode": {"enum": list(now.named.modes)}})
    if file.why_not and not file.absent:
        return
    for one in choices.sets(file.path, now.text(file.path), now.named):
        key, value = {"const": one.key}, {"enum": list(one.values)}
        yield _object({"do": {"const": "set_option"}, "path": path, "key": key, "value": value})
    if knows(file.path):
        return
    for one_line in choices.words_to_drop(file, now.named):
        number, word = {"enum": [one_line.number]}, {"enum": list(one_line.words)}
        yield _object({"do": {"const": "drop_word"}, "path": path, "number": number, "word": word})
        yield _object({"do": {"const": "remove_line"}, "path": path, "number": number})
    if now.named.quoted:
        line = {"enum": list(now.named.quoted)}
        yield _object({"do": {"const": "append_line"}, "path": path, "line": line})


def _free(file: ShownFile, now: TurnSituation) -> Iterable[Schema]:
    path, line = {"const": file.path}, {"type": "string", "maxLength": _LINE}
    if not file.absent:
        yield _object({"do": {"const": "chmod"}, "path": path, "mode": _MODE})
    keys = choices.keys(file.path, now.text(file.path), now.named, all_of_them=True)
    if keys:
        key = {"enum": list(keys)}
        yield _object({"do": {"const": "set_option"}, "path": path, "key": key, "value": _text(LONG)})
    if file.whole:
        number = {"enum": list(file.whole)}
        yield _object({"do": {"const": "replace_line"}, "path": path, "number": number, "new": line})
        yield _object({"do": {"const": "remove_line"}, "path": path, "number": number})
    if file.cut or (file.why_not and not file.absent):  # a line that is not shown has no number
        yield _object({"do": {"const": "replace_line"}, "path": path, "old": line, "new": line})
        yield _object({"do": {"const": "remove_line"}, "path": path, "line": line})
    yield _object({"do": {"const": "append_line"}, "path": path, "line": line})
    content = {"type": "string", "maxLength": _CONTENT}
    yield _object({"do": {"const": "write_file"}, "path": path, "content": content, "mode": _MODE})


def _new_file(pattern: str) -> str:
    folder, _, name = pattern.rpartition("/")
    return f"^{re.escape(folder)}/{re.escape(name).replace(re.escape('*'), _NEW_NAME)}$"


def _text(most: int) -> Schema:
    """Return a text schema with one parse per length: with ambiguous bounds xgrammar needs seconds per token."""
    whole = [f"{_PLAIN}{{{_RUN}}}" * before for before in range(-(-most // _RUN))]
    ends = (f"{_PLAIN}{{{min(1, n)},{min(_RUN, most - n * _RUN)}}}" for n in range(len(whole)))
    ways = [begun + end for begun, end in zip(whole, ends, strict=True)]
    return {"type": "string", "pattern": f"^({'|'.join(ways)})$" if len(ways) > 1 else f"^{ways[0]}$"}


def _any(found: Sequence[Schema]) -> Schema:
    return found[0] if len(found) == 1 else {"anyOf": list(found)}


def _list(items: Schema, least: int, most: int) -> Schema:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def _object(fields: Schema, optional: Schema | None = None) -> Schema:
    return {
        "type": "object",
        "properties": fields | (optional or {}),
        "required": list(fields),
        "additionalProperties": False,
    }


SHAPES = {"plan": plan, "act": act, "review": review, "triage": triage, "reflect": reflect}
