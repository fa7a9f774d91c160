"""Explains a rule's result by its deciding OVAL tests and what they found."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from app.scanners.openscap.safe_xml import Element, get_local_name, join_text_collapsing_whitespace
from app.text.clean import clean_text
from app.text.redaction import is_secret_path

TESTS_TOLD, ITEMS_TOLD, FILES_TOLD, LONGEST = 3, 3, 8, 160
DEEPEST = 12

MORE = "and {} more"
"""Ends a list that is not shown whole."""
_SUBJECT = ("filepath", "path", "name", "unit", "username", "mount_point", "var_ref")
_PLACE = ("filepath", "path", "filename")
_VALUE = ("text", "value", "evr", "version", "subexpression")
_NONE_MAY = ("none satisfy", "none exist")


@dataclass(frozen=True)
class OvalFinding:
    text: str
    path: str | None = None


@dataclass
class OvalReport:
    results: dict[str, Element] = field(default_factory=dict)
    tests: dict[str, Element] = field(default_factory=dict)
    comments: dict[str, Element] = field(default_factory=dict)
    objects: dict[str, Element] = field(default_factory=dict)
    items: dict[str, Element] = field(default_factory=dict)

    def explain_result(self, definition: str, word: str) -> tuple[OvalFinding, ...]:
        """Return findings of the tests that decided a definition; `word` is the OVAL result to explain."""
        top = self.results.get(definition)
        if top is None:
            return ()
        decided = dict.fromkeys(self._iter_deciding_test_ids(top, word, 0))
        return tuple(self._build_test_finding(test) for test in list(decided)[:TESTS_TOLD])

    def _iter_deciding_test_ids(self, node: Element, word: str, depth: int) -> Iterator[str]:
        if depth > DEEPEST:
            return
        for child in node:
            if child.get("result") != word:
                continue
            if get_local_name(child) == "criterion":
                yield child.get("test_ref", "")
            elif get_local_name(child) == "criteria":
                yield from self._iter_deciding_test_ids(child, word, depth + 1)
            elif (extended := self.results.get(child.get("definition_ref", ""))) is not None:
                yield from self._iter_deciding_test_ids(extended, extended.get("result", ""), depth + 1)

    def _build_test_finding(self, test: str) -> OvalFinding:
        about = self.comments.get(test)
        comment = clean_text(about.get("comment", test), LONGEST) if about is not None else test
        found = [self.items[ref] for ref in self._list_failing_or_all_item_ids(test) if ref in self.items]
        # OpenSCAP collects in an order that the same host does not repeat.
        seen = sorted(found, key=lambda item: _get_first_field(item, _SUBJECT))
        if not seen:
            at = self._find_object_path(about)
            return OvalFinding(f"{comment}: nothing was found{f' in {at}' if at else ''}.", at)
        most = FILES_TOLD if get_local_name(seen[0]) == "file_item" else ITEMS_TOLD
        more = f"; {MORE.format(len(seen) - most)}" if len(seen) > most else ""
        told = "; ".join(dict.fromkeys(map(_describe_item, seen[:most])))
        path = next((text for item in seen if (text := _get_first_field(item, ("filepath", "path")))), None)
        return OvalFinding(f"{comment}: {told}{more}.", path)

    def _list_failing_or_all_item_ids(self, test: str) -> list[str]:
        """Return the items that made a test fail if the report tells them from the others, and all items otherwise."""
        result = self.tests.get(test)
        if result is None:
            return []
        wanted = "true" if result.get("check") in _NONE_MAY else "false"
        tested = [one for one in result if get_local_name(one) == "tested_item"]
        wrong = [one for one in tested if one.get("result") == wanted] if result.get("result") == "false" else []
        return [one.get("item_id", "") for one in wrong or tested]

    def _find_object_path(self, test_element: Element | None) -> str | None:
        """Return the file that the test's object names, or None if it names no single file."""
        if test_element is None:
            return None
        refs = [one.get("object_ref", "") for one in test_element if get_local_name(one) == "object"]
        asked = self.objects.get(refs[0]) if refs else None
        if asked is None:
            return None
        if any(get_local_name(one) in _PLACE and one.get("operation", "equals") != "equals" for one in asked):
            return None
        folder_and_name = (_get_first_field(asked, (part,)) for part in ("path", "filename"))
        named = _get_first_field(asked, ("filepath",)) or "/".join(folder_and_name)
        return named if named.startswith("/") and named != "/" else None


def index_report(report: Element) -> OvalReport:
    oval = OvalReport()
    by_kind = {"definition": oval.results, "test": oval.tests}
    by_ending = {"test": oval.comments, "object": oval.objects, "item": oval.items}
    for one in report.iter():
        name = get_local_name(one)
        _, mark, ending = name.rpartition("_")
        index = by_ending.get(ending) if mark else by_kind.get(name)
        if index is not None and (id_ := one.get("id" if mark else f"{name}_id")):
            index[id_] = one
    return oval


def _describe_item(item: Element) -> str:
    subject = _get_first_field(item, _SUBJECT) or get_local_name(item).removesuffix("_item")
    if get_local_name(item) == "file_item":
        owner = ":".join(_get_first_field(item, (part,)) for part in ("user_id", "group_id"))
        return f"{subject} has mode {_format_mode(item)}, owner {owner}"
    value = "" if is_secret_path(subject) else _get_first_field(item, _VALUE)
    if get_local_name(item) in ("dpkginfo_item", "rpminfo_item"):
        return f"{subject} {value} is installed"
    return f"{subject} says '{value}'" if value else f"{subject} is there"


def _get_first_field(element: Element, names: tuple[str, ...]) -> str:
    fields = {get_local_name(one): join_text_collapsing_whitespace(one) for one in reversed(element)}
    return next((clean_text(fields[name], LONGEST) for name in names if fields.get(name)), "")


def _format_mode(item: Element) -> str:
    fields = {get_local_name(one): join_text_collapsing_whitespace(one) for one in item}
    special = sum(bit for name, bit in (("suid", 4), ("sgid", 2), ("sticky", 1)) if fields.get(name) == "true")
    rights = [
        sum(bit for right, bit in (("read", 4), ("write", 2), ("exec", 1)) if fields.get(f"{who}{right}") == "true")
        for who in "ugo"
    ]
    return "".join(map(str, (special, *rights)))
