"""XML as scanners and checklist programs read it."""

import xml.etree.ElementTree as ET

from app.evidence.xml_and_json_writing import encode_json, serialize_document


def test_an_element_without_text_has_an_end_tag_as_old_viewers_of_checklists_want_it():
    root = ET.Element("a")
    ET.SubElement(root, "b")
    assert serialize_document(root) == b'<?xml version="1.0" encoding="UTF-8"?>\n<a>\n <b></b>\n</a>\n'


def test_json_is_indented_by_one_and_keeps_letters_as_they_are_but_halves_of_a_pair():
    assert encode_json({"a": "ü\ud800"}) == '{\n "a": "ü?"\n}\n'.encode()
