"""An OVAL document as elements that refer to each other by id. Pure."""

from collections.abc import Iterable
from copy import deepcopy
from typing import Any, cast

from lxml import etree

from app.scanners.openscap.safe_xml import Element, get_local_name

_SECTIONS = frozenset(("definitions", "tests", "objects", "states", "variables"))


class OvalDocument:
    def __init__(self, root: Element) -> None:
        self._root = root
        sections = [one for one in root if get_local_name(one) in _SECTIONS]
        self._by_id = {one.get("id", ""): one for section in sections for one in section}
        self._references: dict[str, frozenset[str]] = {}

    def copy_reachable(self, wanted: Iterable[str]) -> Element:
        """Return a copy that has only the wanted elements and all that they refer to."""
        kept = self._find_reachable(wanted)
        made = copy_tag_and_attributes(self._root)
        for child in self._root:
            if get_local_name(child) not in _SECTIONS:
                made.append(deepcopy(child))
            elif inside := [one for one in child if one.get("id", "") in kept]:
                section = copy_tag_and_attributes(child)
                section.extend(map(deepcopy, inside))
                made.append(section)
        return made

    def _find_reachable(self, wanted: Iterable[str]) -> set[str]:
        kept: set[str] = set()
        ahead = [id_ for id_ in wanted if id_ in self._by_id]
        while ahead:
            id_ = ahead.pop()
            if id_ not in kept:
                kept.add(id_)
                ahead += self._list_references(id_)
        return kept

    def _list_references(self, id_: str) -> frozenset[str]:
        """Return the ids in any attribute or text of the element, so that no kind of reference can be forgotten."""
        if id_ not in self._references:
            parts = list(self._by_id[id_].iter())
            words = [
                *(word for one in parts for word in one.attrib.values()),
                *((one.text or "").strip() for one in parts),
            ]
            self._references[id_] = frozenset(word for word in map(str, words) if word in self._by_id)
        return self._references[id_]


def copy_tag_and_attributes(element: Element) -> Element:
    """Return a copy with a blank in place of its children: after an empty element, oscap 1.3 skips the next one."""
    attributes, namespaces = {str(name): str(word) for name, word in element.items()}, element.nsmap
    made = etree.Element(element.tag, attributes, cast(Any, namespaces))
    made.text = "\n"
    return made
