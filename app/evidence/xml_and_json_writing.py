"""Writes papers as JSON, and as XML in a fixed order with foreign text reduced to characters that XML allows."""

import json
from typing import Any
from xml.etree import ElementTree as ET

from app.text.clean import clean_text

_LONGEST = 100_000
_NEVER = {0xFFFE: None, 0xFFFF: None}


def add_element(parent: ET.Element, tag: str, text: str = "", **attributes: str) -> ET.Element:
    element = ET.SubElement(parent, tag, {name: clean_xml_text(value) for name, value in attributes.items()})
    element.text = clean_xml_text(text) or None
    return element


def clean_xml_text(text: str) -> str:
    return clean_text(text, _LONGEST).translate(_NEVER)


def encode_json(paper: dict[str, Any]) -> bytes:
    return json.dumps(paper, indent=1, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def serialize_document(root: ET.Element) -> bytes:
    ET.indent(root, " ")
    body = ET.tostring(root, encoding="unicode", short_empty_elements=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'.encode()
