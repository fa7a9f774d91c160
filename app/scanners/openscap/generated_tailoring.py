"""Generates a tailoring: a profile without some rules and with site values. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from app.scanners.openscap.safe_xml import XCCDF, Element, get_local_name, parse_xml
from app.text.clean import clean_text

_LAST = ("metadata", "signature")
_REMARK = 2000


@dataclass(frozen=True)
class GeneratedTailoring:
    benchmark: str
    """The benchmark's id."""
    file: str
    """The benchmark's file name, as a hint for readers."""
    extends: str
    """The full id of the extended profile."""
    id: str
    """The new profile's full id; ignored if `begins` is set."""
    title: str
    at: str
    left_out: Sequence[tuple[str, str]] = ()
    """Full rule ids, each with a reason."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Values by full id."""
    begins: bytes = b""
    """An operator's tailoring to extend; empty if the profile is the content's own."""

    def to_xml(self) -> bytes:
        root = (
            self._copy_root_with_only_extended_profile() if self.begins else self._create_root_with_header_and_profile()
        )
        (profile,) = root.findall(f"{{{XCCDF}}}Profile")
        for rule, why in self.left_out:
            select = _replace_element_by_idref(profile, "select", idref=rule, selected="false")
            _add_text_element(select, "remark", why)
        for value, text in sorted(self.values.items()):
            _replace_element_by_idref(profile, "set-value", idref=value).text = text
        etree.indent(root)
        return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8")) + b"\n"

    def _create_root_with_header_and_profile(self) -> Element:
        root: Element = etree.Element(f"{{{XCCDF}}}Tailoring", nsmap={"xccdf": XCCDF}, attrib={"id": _OURS})
        self._add_header(root)
        profile = etree.SubElement(root, f"{{{XCCDF}}}Profile", {"id": self.id, "extends": self.extends})
        _add_text_element(profile, "title", self.title, override="true")
        return root

    def _copy_root_with_only_extended_profile(self) -> Element:
        """Copy an operator's tailoring with only the wanted profile."""
        root = parse_xml(self.begins, "The tailoring")
        for one in root:
            if get_local_name(one) != "Profile" or one.get("id") != self.extends:
                root.remove(one)
        profile = root[0]
        root.set("id", _OURS)
        root.remove(profile)
        self._add_header(root)
        root.append(profile)
        return root

    def _add_header(self, root: Element) -> None:
        etree.SubElement(root, f"{{{XCCDF}}}benchmark", {"id": self.benchmark, "href": self.file})
        _add_text_element(root, "version", "1", time=self.at)


_OURS = "xccdf_temper_tailoring_site"


def _add_text_element(parent: Element, tag: str, text: str, **attributes: Any) -> None:
    etree.SubElement(parent, f"{{{XCCDF}}}{tag}", attributes).text = clean_text(text, _REMARK)


def _replace_element_by_idref(profile: Element, tag: str, **attributes: Any) -> Element:
    """Add an element and remove existing ones with the same idref."""
    for old in profile.findall(f"{{{XCCDF}}}{tag}"):
        if old.get("idref") == attributes["idref"]:
            profile.remove(old)
    made: Element = etree.Element(f"{{{XCCDF}}}{tag}", attributes)
    places = [at for at, one in enumerate(profile) if get_local_name(one) in _LAST]
    profile.insert(places[0] if places else len(profile), made)
    return made
