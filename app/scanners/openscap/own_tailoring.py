"""Generates a tailoring: a profile without some rules and with site values. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from app.scanners.openscap.xml import XCCDF, Element, local, parse
from app.text.clean import clean

_LAST = ("metadata", "signature")
_REMARK = 2000


@dataclass(frozen=True)
class OwnTailoring:
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

    def written(self) -> bytes:
        root = self._begun() if self.begins else self._new()
        (profile,) = root.findall(f"{{{XCCDF}}}Profile")
        for rule, why in self.left_out:
            select = _add(profile, "select", idref=rule, selected="false")
            _put(select, "remark", why)
        for value, text in sorted(self.values.items()):
            _add(profile, "set-value", idref=value).text = text
        etree.indent(root)
        return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8")) + b"\n"

    def _new(self) -> Element:
        root: Element = etree.Element(f"{{{XCCDF}}}Tailoring", nsmap={"xccdf": XCCDF}, attrib={"id": _OURS})
        self._head(root)
        profile = etree.SubElement(root, f"{{{XCCDF}}}Profile", {"id": self.id, "extends": self.extends})
        _put(profile, "title", self.title, override="true")
        return root

    def _begun(self) -> Element:
        """Copy an operator's tailoring with only the wanted profile."""
        root = parse(self.begins, "The tailoring")
        for one in root:
            if local(one) != "Profile" or one.get("id") != self.extends:
                root.remove(one)
        profile = root[0]
        root.set("id", _OURS)
        root.remove(profile)
        self._head(root)
        root.append(profile)
        return root

    def _head(self, root: Element) -> None:
        etree.SubElement(root, f"{{{XCCDF}}}benchmark", {"id": self.benchmark, "href": self.file})
        _put(root, "version", "1", time=self.at)


_OURS = "xccdf_temper_tailoring_site"


def _put(parent: Element, tag: str, text: str, **attributes: Any) -> None:
    etree.SubElement(parent, f"{{{XCCDF}}}{tag}", attributes).text = clean(text, _REMARK)


def _add(profile: Element, tag: str, **attributes: Any) -> Element:
    """Add an element and remove existing ones with the same idref."""
    for old in profile.findall(f"{{{XCCDF}}}{tag}"):
        if old.get("idref") == attributes["idref"]:
            profile.remove(old)
    made: Element = etree.Element(f"{{{XCCDF}}}{tag}", attributes)
    places = [at for at, one in enumerate(profile) if local(one) in _LAST]
    profile.insert(places[0] if places else len(profile), made)
    return made
