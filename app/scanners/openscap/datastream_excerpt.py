"""Cuts a data stream down to what some of its rules need, so that OpenSCAP reads kilobytes and finds the same. Pure.

Kept are the rules with their groups, values and platforms, the profile's lines about them, and the OVAL definitions
with all that they refer to. Left out are the other rules, texts for people, and OCIL. A stream in which something could
be lost in this way is not cut.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from lxml import etree

from app.scanners.openscap.oval_cut_for_faster_scans import OvalDocument, copy_tag_and_attributes
from app.scanners.openscap.safe_xml import XCCDF, Element, get_local_name, parse_xml

_OVAL, _OCIL = "http://oval.mitre.org/XMLSchema/oval-definitions-5", "http://scap.nist.gov/schema/ocil/2"
_HREF = "{http://www.w3.org/1999/xlink}href"
_PROSE = (
    *("reference", "description", "rationale", "warning", "fix", "fixtext", "notice", "front-matter", "rear-matter"),
    *("metadata", "question", "signature", "TestResult"),
)
_ITEMS = ("Group", "Rule")
_BOUND = ("requires", "conflicts")
"""They name other items, of which only the selection counts."""


class CannotCut(Exception):
    """The stream has a form that is not understood here: OpenSCAP has to read the whole of it."""


@dataclass
class _Needs:
    """What stays, by id."""

    rules: dict[str, Element]
    """The rules to judge."""
    items: dict[str, Element] = field(default_factory=dict)
    """These, the groups around them, and what they require or conflict with."""
    values: set[str] = field(default_factory=set)
    profiles: list[Element] = field(default_factory=list)
    platforms: set[str] = field(default_factory=set)
    refs: set[str] = field(default_factory=set)
    """References of the data stream to components."""
    oval: dict[str, set[str] | None] = field(default_factory=dict)
    """Ids of OVAL elements, by component; None for all of them."""

    def keeps_profile_statement(self, statement: Element) -> bool:
        """Return True if a line of a profile is about something that stays, or about nothing."""
        about = statement.get("idref")
        clusters = {one.get("cluster-id") for one in self.items.values()}
        return about is None or about in self.items or about in self.values or about in clusters


class DataStream:
    """A data stream in memory, without texts for people. Cutting does not change it."""

    def __init__(self, content: bytes) -> None:
        root = parse_xml(content, "The data stream")
        streams, benchmarks = root.findall("{*}data-stream"), list(root.iter("{*}Benchmark"))
        if len(streams) != 1 or [one.tag for one in benchmarks] != [_to_xccdf_tag("Benchmark")]:
            raise CannotCut
        self._root, self._stream, self._benchmark = root, streams[0], benchmarks[0]
        for one in [*self._benchmark.iter(*map(_to_xccdf_tag, _PROSE))]:
            if (above := one.getparent()) is not None:
                above.remove(one)
        self._components = {f"#{one.get('id')}": one[0] for one in root.findall("{*}component") if len(one)}
        self._documents = {
            at: OvalDocument(one) for at, one in self._components.items() if get_local_name(one) == "oval_definitions"
        }
        self._facts = [*_iter_platform_facts(self._benchmark), *_iter_dictionary_facts(self._components.values())]
        self._hrefs = {f"#{one.get('id')}": one.get(_HREF, "") for one in self._stream.iter("{*}component-ref")}
        self._uris = {one.get("name", ""): one.get("uri", "") for one in self._stream.iter("{*}uri")}
        self._items = {one.get("id", ""): one for one in self._benchmark.iter(*map(_to_xccdf_tag, _ITEMS))}
        self._profiles = {one.get("id", ""): one for one in self._benchmark.findall(_to_xccdf_tag("Profile"))}

    def build_excerpt_and_tailoring(
        self, profile: str, rules: Sequence[str], tailoring: bytes = b""
    ) -> tuple[bytes, bytes]:
        """Return a data stream and a tailoring on which OpenSCAP judges these rules as on the whole; raise CannotCut.

        The second is empty if there is no tailoring.
        """
        own = parse_xml(tailoring, "The tailoring") if tailoring else None
        if not self._items.keys() >= set(rules):
            raise CannotCut
        needs = _Needs({id_: self._items[id_] for id_ in rules})
        self._add_items_to_needs(needs, needs.rules.values())
        self._add_profiles(needs, profile, own)
        self._add_platforms(needs)
        for rule in needs.rules.values():
            self._add_checks(needs, rule)
        return _to_xml(self._assemble(needs)), b"" if own is None else _to_xml(_copy_tailoring(own, needs))

    def _add_items_to_needs(self, needs: _Needs, items: Iterable[Element]) -> None:
        for one in items:
            if one is self._benchmark or one.get("id", "") in needs.items:
                continue
            if one.get("extends"):
                raise CannotCut
            needs.items[one.get("id", "")] = one
            bound = [id_ for child in one if get_local_name(child) in _BOUND for id_ in child.get("idref", "").split()]
            self._add_items_to_needs(
                needs, [*one.iterancestors(), *(self._items[id_] for id_ in bound if id_ in self._items)]
            )

    def _add_profiles(self, needs: _Needs, profile: str, tailoring: Element | None) -> None:
        """Add the profile and those that it extends."""
        tailored = tailoring.findall(_to_xccdf_tag("Profile")) if tailoring is not None else []
        at = next((one for one in tailored if one.get("id") == profile), self._profiles.get(profile))
        while at is not None and at not in needs.profiles:
            needs.profiles.append(at)
            at = self._profiles.get(at.get("extends", ""))

    def _add_platforms(self, needs: _Needs) -> None:
        around = (self._benchmark, *needs.items.values(), *needs.profiles)
        needs.platforms = {child.get("idref", "") for one in around for child in one.findall(_to_xccdf_tag("platform"))}
        for platform, href, definition in self._facts:
            if not platform or platform in needs.platforms:
                self._add_oval(needs, href, {definition})

    def _add_checks(self, needs: _Needs, rule: Element) -> None:
        for check in rule.iter(_to_xccdf_tag("check")):
            if check.get("system") == _OCIL and check.getparent() is rule:
                continue
            if check.get("system") != _OVAL or check.find(_to_xccdf_tag("check-content")) is not None:
                raise CannotCut
            needs.values |= {one.get("value-id", "") for one in check.findall(_to_xccdf_tag("check-export"))}
            names = {one.get("export-name", "") for one in check.findall(_to_xccdf_tag("check-export"))}
            names |= {one.get("import-name", "") for one in check.findall(_to_xccdf_tag("check-import"))}
            for ref in check.findall(_to_xccdf_tag("check-content-ref")):
                name = ref.get("name")
                self._add_oval(needs, ref.get("href", ""), names | {name} if name else None)

    def _add_oval(self, needs: _Needs, href: str, ids: set[str] | None) -> None:
        ref = self._uris.get(href, "")
        at = self._hrefs.get(ref, "")
        if at not in self._documents:  # oscap looks for it elsewhere, and says so
            raise CannotCut
        needs.refs.add(ref)
        known = needs.oval.get(at, set())
        needs.oval[at] = None if ids is None or known is None else known | ids

    def _assemble(self, needs: _Needs) -> Element:
        made = copy_tag_and_attributes(self._root)
        made.append(self._copy_stream(needs))
        for component in self._root.findall("{*}component"):
            at = f"#{component.get('id')}"
            inside = self._copy_component(at, needs)
            if inside is not None:
                shell = copy_tag_and_attributes(component)
                shell.append(inside)
                made.append(shell)
        return made

    def _copy_stream(self, needs: _Needs) -> Element:
        made = deepcopy(self._stream)
        for above in [*made.iter("{*}checks", "{*}catalog")]:
            for one in [*above]:
                if needs.refs.isdisjoint((f"#{one.get('id')}", one.get("uri", ""))):
                    above.remove(one)
        return made

    def _copy_component(self, component_href: str, needs: _Needs) -> Element | None:
        """Return what stays of a component; None if that is nothing."""
        one = self._components.get(component_href)
        if one is self._benchmark:
            return self._copy_item_reduced_to_needs(one, needs)
        if component_href in needs.oval:
            wanted = needs.oval[component_href]
            return deepcopy(one) if wanted is None else self._documents[component_href].copy_reachable(wanted)
        return deepcopy(one) if one is not None and get_local_name(one) == "cpe-list" else None

    def _copy_item_reduced_to_needs(self, item: Element, needs: _Needs) -> Element:
        """Copy the benchmark, a group or a rule with what stays of it."""
        made = copy_tag_and_attributes(item)
        judged = item is self._benchmark or get_local_name(item) == "Group" or item.get("id", "") in needs.rules
        for child in item:
            name, id_ = get_local_name(child), child.get("id", "")
            if name in _ITEMS:
                if id_ in needs.items:
                    made.append(self._copy_item_reduced_to_needs(child, needs))
            elif name == "Profile":
                if child in needs.profiles:
                    made.append(_copy_profile(child, needs))
            elif name == "Value":
                if id_ in needs.values:
                    made.append(deepcopy(child))
            elif name == "platform-specification":
                made.append(_copy_platforms(child, needs))
            elif (judged and child.get("system") != _OCIL) or name in _BOUND:
                made.append(deepcopy(child))
        return made


_Fact = tuple[str, str, str]
"""Which platform needs it ("" if any could), and the document and name of its OVAL definition."""


def _iter_platform_facts(benchmark: Element) -> Iterator[_Fact]:
    for fact in benchmark.iter("{*}check-fact-ref"):
        for platform in fact.iterancestors("{*}platform"):
            yield f"#{platform.get('id')}", fact.get("href", ""), fact.get("id-ref", "")


def _iter_dictionary_facts(components: Iterable[Element]) -> Iterator[_Fact]:
    """Yield for each entry of a dictionary: names match by parts, so any platform could mean any entry."""
    for one in components:
        if get_local_name(one) == "cpe-list":
            for check in one.iter("{*}check"):
                yield "", check.get("href", ""), (check.text or "").strip()


def _copy_platforms(specification: Element, needs: _Needs) -> Element:
    made = copy_tag_and_attributes(specification)
    made.extend(deepcopy(one) for one in specification if f"#{one.get('id')}" in needs.platforms)
    return made


def _copy_profile(profile: Element, needs: _Needs) -> Element:
    made = copy_tag_and_attributes(profile)
    made.extend(deepcopy(one) for one in profile if needs.keeps_profile_statement(one))
    return made


def _copy_tailoring(tailoring: Element, needs: _Needs) -> Element:
    made = copy_tag_and_attributes(tailoring)
    for child in tailoring:
        if get_local_name(child) != "Profile":
            made.append(deepcopy(child))
        elif child in needs.profiles:
            made.append(_copy_profile(child, needs))
    return made


def _to_xccdf_tag(name: str) -> str:
    return f"{{{XCCDF}}}{name}"


def _to_xml(root: Element) -> bytes:
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def open_datastream(file: Path) -> DataStream:
    """Return a data stream for cutting; raise CannotCut. The last two stay in memory: each takes 0.1 s and 50 MB."""
    return _open_datastream(file, file.stat().st_mtime_ns)


@lru_cache(2)
def _open_datastream(file: Path, _changed: int) -> DataStream:
    return DataStream(file.read_bytes())
