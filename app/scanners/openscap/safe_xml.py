"""Parses untrusted XML: no document type, entities or network access, and limited size."""

from typing import Any

from lxml import etree

from app.errors import BadInput
from app.text.clean import clean_line

MOST = 96 << 20
XCCDF = "http://checklists.nist.gov/xccdf/1.2"

Element = etree._Element  # noqa: SLF001  (lxml gives its type no other name)


def parse_xml(content: bytes, document_name: str) -> Element:
    """Parse XML; raise BadInput, naming the document as `document_name`."""
    if len(content) > MOST:
        raise BadInput(f"{document_name} has more than {MOST >> 20} MiB, which is the limit.")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as exc:
        said = clean_line(exc.msg or "", 300).replace(", use XML_PARSE_HUGE option", "")
        raise BadInput(f"{document_name} is not well-formed XML: {said}.") from exc
    document: Any = root.getroottree().docinfo
    if document.doctype:
        raise BadInput(f"{document_name} declares a document type or entities: Temper does not read such a file.")
    return root


def find_benchmark(root: Element) -> Element | None:
    """Return the benchmark of an XCCDF file or of a data stream."""
    return root if get_local_name(root) == "Benchmark" else next(root.iter("{*}Benchmark"), None)


def get_local_name(element: Element) -> str:
    return str(etree.QName(element).localname)


def join_text(element: Element | None) -> str:
    return "" if element is None else "".join(map(str, element.itertext()))


def join_text_collapsing_whitespace(element: Element | None) -> str:
    """Return the text without markup, whitespace collapsed."""
    return "" if element is None else " ".join("".join(map(str, element.itertext(with_tail=False))).split())
