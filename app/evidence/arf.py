"""Both scans as an ARF collection of XCCDF TestResults, before and after the run."""

from xml.etree import ElementTree as ET

from app.evidence.case import RunRecord
from app.evidence.markup import add_element, serialize_document
from app.evidence.xccdf import SPACE, add_benchmark, add_test_result

_ARF = "http://scap.nist.gov/schema/asset-reporting-format/1.1"
_CORE = "http://scap.nist.gov/schema/reporting-core/1.1"
_AI = "http://scap.nist.gov/schema/asset-identification/1.1"
_VOCABULARY = "http://scap.nist.gov/specifications/arf/vocabulary/relationships/1.0#"
_ASSET, _REQUEST = "host", "benchmark"
PHASES = ("opening", "closing")


def build_arf(case: RunRecord) -> bytes:
    spaces = {"xmlns:arf": _ARF, "xmlns:core": _CORE, "xmlns:ai": _AI, "xmlns:relation": _VOCABULARY}
    root = ET.Element("arf:asset-report-collection", spaces)
    related = add_element(root, "core:relationships")
    for phase in PHASES:
        for kind, of in (("isAbout", _ASSET), ("createdFor", _REQUEST)):
            about = add_element(related, "core:relationship", type=f"relation:{kind}", subject=phase)
            add_element(about, "core:ref", of)
    request = add_element(add_element(root, "arf:report-requests"), "arf:report-request", id=_REQUEST)
    add_benchmark(add_element(request, "arf:content"), case)
    asset = add_element(add_element(root, "arf:assets"), "arf:asset", id=_ASSET)
    add_element(add_element(asset, "ai:computing-device"), "ai:hostname", case.request.host)
    reports = add_element(root, "arf:reports")
    for phase in PHASES:
        add_test_result(
            add_element(add_element(reports, "arf:report", id=phase), "arf:content"), case, phase, xmlns=SPACE
        )
    return serialize_document(root)
