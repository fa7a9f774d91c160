"""Strings on which a pattern would go wrong if it could: what one of its loops takes, many times, then a stranger."""

import re
from collections.abc import Iterator
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

MANY = 16
_TRIED = "a0-./: _A=\t\"'\\,#@<>[](){}$|;!*+?%&~^`\n" + "bcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNOPQRSTUVWXYZ123456789"
_CATEGORIES = {
    op.CATEGORY_DIGIT: r"[0-9]",
    op.CATEGORY_NOT_DIGIT: r"[^0-9]",
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
}
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


def pumps(pattern: re.Pattern[str], length: int) -> Iterator[str]:
    told = set()
    for ahead, body in _loops(list(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)), ""):
        for piece in dict.fromkeys([_shortest(body), _shortest(body, optional=True), *_letters(body)]):
            text = ahead + piece * (length // max(len(piece), 1))
            for attack in (text, f"{text}\x01", f"{text}\x01{piece}"):
                if piece and attack not in told:
                    told.add(attack)
                    yield attack


def _loops(nodes: list[Any], ahead: str) -> Iterator[tuple[str, list[Any]]]:
    """Every loop without a small end, and a text that leads to it."""
    for number, (kind, value) in enumerate(nodes):
        lead = ahead + _shortest(nodes[:number])
        if kind in _REPEATS:
            _least, most, body = value
            if most > MANY:
                yield lead, list(body)
        for inner in _inside(kind, value):
            yield from _loops(inner, lead)


def _inside(kind: Any, value: Any) -> list[list[Any]]:
    if kind in _REPEATS:
        return [list(value[2])]
    if kind is op.SUBPATTERN:
        return [list(value[3])]
    if kind is op.BRANCH:
        return [list(branch) for branch in value[1]]
    if kind in (op.ASSERT, op.ASSERT_NOT):
        return [list(value[1])]
    return [list(value)] if kind is op.ATOMIC_GROUP else []


def _shortest(nodes: list[Any], *, optional: bool = False) -> str:
    said = ""
    for kind, value in nodes:
        if kind is op.LITERAL:
            said += chr(value)
        elif kind in (op.NOT_LITERAL, op.ANY, op.IN):
            said += next(iter(_matching(kind, value)), "")
        elif kind in _REPEATS:
            said += _shortest(list(value[2]), optional=optional) * max(value[0], int(optional))
        elif kind is op.BRANCH:
            said += _shortest(list(value[1][0]), optional=optional)
        elif kind in (op.SUBPATTERN, op.ATOMIC_GROUP):
            said += _shortest(_inside(kind, value)[0], optional=optional)
    return said


def _letters(nodes: list[Any]) -> list[str]:
    """A few of the letters that the loop's parts take."""
    found: list[str] = []
    for kind, value in nodes:
        if kind is op.LITERAL:
            found.append(chr(value))
        elif kind in (op.NOT_LITERAL, op.ANY, op.IN):
            found += _matching(kind, value)[:3]
        for inner in _inside(kind, value):
            found += _letters(inner)
    return list(dict.fromkeys(found))[:8]


def _matching(kind: Any, value: Any) -> list[str]:
    if kind is op.ANY:
        return ["a", " "]
    if kind is op.NOT_LITERAL:
        return [letter for letter in _TRIED if ord(letter) != value]
    negated = value[0][0] is op.NEGATE
    return [letter for letter in _TRIED if any(_takes(item, letter) for item in value) != negated] or [
        chr(value[-1][1] if value[-1][0] is op.LITERAL else value[-1][1][0])
    ]


def _takes(item: Any, letter: str) -> bool:
    kind, value = item
    if kind is op.LITERAL:
        return bool(ord(letter) == value)
    if kind is op.RANGE:
        return bool(value[0] <= ord(letter) <= value[1])
    return kind is op.CATEGORY and re.match(_CATEGORIES[value], letter) is not None
