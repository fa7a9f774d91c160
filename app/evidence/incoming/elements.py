"""Streams selected elements of a foreign XML file. Document types and entities are rejected."""

from collections.abc import Collection
from dataclasses import dataclass, field
from xml.parsers import expat

from app.errors import BadInput

DEEPEST, MOST, LONGEST = 200, 500_000, 64 * 1024
"""Limits: nesting depth, kept elements, characters of text in one element."""


@dataclass
class Element:
    tag: str
    """Without its namespace."""
    attributes: dict[str, str]
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def list_child_texts(self, tag: str) -> list[str]:
        return [child.text.strip() for child in self.children if child.tag == tag]


class _ElementReader:
    """Keeps the wanted elements with their children and drops all others."""

    def __init__(self, wanted: Collection[str]) -> None:
        self._wanted = wanted
        self._open: list[Element] = []
        self._depth = self._kept = 0
        self.found: list[Element] = []
        self.root = ""

    def open_element(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        self.root = self.root or tag
        self._depth += 1
        if self._depth > DEEPEST:
            raise BadInput(f"its elements are nested deeper than {DEEPEST}.")
        if not self._open and tag not in self._wanted:
            return
        self._kept += 1
        if self._kept > MOST:
            raise BadInput(f"it has more than {MOST} elements to read.")
        element = Element(tag, attributes)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.found.append(element)
        self._open.append(element)

    def add_text(self, text: str) -> None:
        if self._open and len(self._open[-1].text) < LONGEST:
            self._open[-1].text += text

    def close_element(self, _: str) -> None:
        self._depth -= 1
        if self._open:
            self._open.pop()


def read_root_tag_and_elements(content: bytes, wanted_tags: Collection[str]) -> tuple[str, list[Element]]:
    """Return the root's tag and every outermost wanted element; raise BadInput for unusable XML."""
    reader = _ElementReader(wanted_tags)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = reader.open_element
    parser.EndElementHandler = reader.close_element
    parser.CharacterDataHandler = reader.add_text
    parser.StartDoctypeDeclHandler = _refuse_declaration
    parser.EntityDeclHandler = _refuse_declaration
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError, ValueError) as exc:  # the last two: an unknown encoding
        raise BadInput(f"it is no XML: {exc}.") from exc
    return reader.root, reader.found


def _refuse_declaration(*_: object) -> None:
    raise BadInput("it declares a document type or entities: Temper does not read such a file.")
