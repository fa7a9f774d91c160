"""Explains a rule's result by its deciding OVAL tests and what they found."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from app.scanners.openscap.xml import Element, local, words
from app.text.clean import clean
from app.text.secrets import keeps_secrets

TESTS_TOLD, ITEMS_TOLD, LONGEST = 3, 3, 160
DEEPEST = 12

_SUBJECT = ("filepath", "path", "name", "unit", "username", "mount_point", "var_ref")
_PLACE = ("filepath", "path", "filename")
_VALUE = ("text", "value", "evr", "version", "subexpression")


@dataclass(frozen=True)
class Finding:
    text: str
    path: str | None = None


@dataclass
class Oval:
    """An OVAL report, indexed by id."""

    results: dict[str, Element] = field(default_factory=dict)
    tests: dict[str, Element] = field(default_factory=dict)
    comments: dict[str, Element] = field(default_factory=dict)
    objects: dict[str, Element] = field(default_factory=dict)
    items: dict[str, Element] = field(default_factory=dict)

    def why(self, definition: str, word: str) -> tuple[Finding, ...]:
        """Return findings of the tests that decided a definition; `word` is the OVAL result to explain."""
        top = self.results.get(definition)
        if top is None:
            return ()
        decided = dict.fromkeys(self._deciding(top, word, 0))
        return tuple(self._told(test) for test in list(decided)[:TESTS_TOLD])

    def _deciding(self, node: Element, word: str, depth: int) -> Iterator[str]:
        if depth > DEEPEST:
            return
        for child in node:
            if child.get("result") != word:
                continue
            if local(child) == "criterion":
                yield child.get("test_ref", "")
            elif local(child) == "criteria":
                yield from self._deciding(child, word, depth + 1)
            elif (extended := self.results.get(child.get("definition_ref", ""))) is not None:
                yield from self._deciding(extended, extended.get("result", ""), depth + 1)

    def _told(self, test: str) -> Finding:
        about = self.comments.get(test)
        comment = clean(about.get("comment", test), LONGEST) if about is not None else test
        seen = [self.items[ref] for ref in self._seen(test) if ref in self.items][:ITEMS_TOLD]
        if not seen:
            at = self._looked_at(about)
            return Finding(f"{comment}: nothing was found{f' in {at}' if at else ''}.", at)
        told = "; ".join(dict.fromkeys(map(_item, seen)))
        path = next((text for item in seen if (text := _one(item, ("filepath", "path")))), None)
        return Finding(f"{comment}: {told}.", path)

    def _seen(self, test: str) -> list[str]:
        result = self.tests.get(test)
        return [] if result is None else [one.get("item_id", "") for one in result if local(one) == "tested_item"]

    def _looked_at(self, about: Element | None) -> str | None:
        """Return the file that the test's object names, or None if it names no single file."""
        refs = [] if about is None else [one.get("object_ref", "") for one in about if local(one) == "object"]
        asked = self.objects.get(refs[0]) if refs else None
        if asked is None:
            return None
        if any(local(one) in _PLACE and one.get("operation", "equals") != "equals" for one in asked):
            return None
        named = _one(asked, ("filepath",)) or "/".join(_one(asked, (part,)) for part in ("path", "filename"))
        return named if named.startswith("/") and named != "/" else None


def index(report: Element) -> Oval:
    oval = Oval()
    for one in report.iter():
        match local(one):
            case "definition" if one.get("definition_id"):
                oval.results[one.get("definition_id", "")] = one
            case "test" if one.get("test_id"):
                oval.tests[one.get("test_id", "")] = one
            case name if name.endswith("_test") and one.get("id"):
                oval.comments[one.get("id", "")] = one
            case name if name.endswith("_object") and one.get("id"):
                oval.objects[one.get("id", "")] = one
            case name if name.endswith("_item") and one.get("id"):
                oval.items[one.get("id", "")] = one
    return oval


def _item(item: Element) -> str:
    subject = _one(item, _SUBJECT) or local(item).removesuffix("_item")
    if local(item) == "file_item":
        return f"{subject} has mode {_mode(item)}, owner {_one(item, ('user_id',))}:{_one(item, ('group_id',))}"
    value = "" if keeps_secrets(subject) else _one(item, _VALUE)
    if local(item) in ("dpkginfo_item", "rpminfo_item"):
        return f"{subject} {value} is installed"
    return f"{subject} says '{value}'" if value else f"{subject} is there"


def _one(element: Element, names: tuple[str, ...]) -> str:
    fields = {local(one): words(one) for one in reversed(element)}
    return next((clean(fields[name], LONGEST) for name in names if fields.get(name)), "")


def _mode(item: Element) -> str:
    fields = {local(one): words(one) for one in item}
    special = sum(bit for name, bit in (("suid", 4), ("sgid", 2), ("sticky", 1)) if fields.get(name) == "true")
    rights = [
        sum(bit for right, bit in (("read", 4), ("write", 2), ("exec", 1)) if fields.get(f"{who}{right}") == "true")
        for who in "ugo"
    ]
    return "".join(map(str, (special, *rights)))
