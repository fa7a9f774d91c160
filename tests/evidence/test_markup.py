"""XML as scanners and checklist programs read it."""

import xml.etree.ElementTree as ET

from app.evidence.markup import serialize_document


def test_an_element_without_text_has_an_end_tag_as_old_viewers_of_checklists_want_it():
    root = ET.Element("a")
    ET.SubElement(root, "b")
    assert serialize_document(root) == b'<?xml version="1.0" encoding="UTF-8"?>\n<a>\n <b></b>\n</a>\n'
