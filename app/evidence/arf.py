"""Both scans as an ARF collection of XCCDF TestResults, before and after the run."""

from xml.etree import ElementTree as ET

from app.evidence.case import Case
from app.evidence.markup import document, put
from app.evidence.xccdf import SPACE, benchmark_below, result_in

_ARF = "http://scap.nist.gov/schema/asset-reporting-format/1.1"
_CORE = "http://scap.nist.gov/schema/reporting-core/1.1"
_AI = "http://scap.nist.gov/schema/asset-identification/1.1"
_VOCABULARY = "http://scap.nist.gov/specifications/arf/vocabulary/relationships/1.0#"
_ASSET, _REQUEST = "host", "benchmark"
PHASES = ("opening", "closing")


def arf(case: Case) -> bytes:
    spaces = {"xmlns:arf": _ARF, "xmlns:core": _CORE, "xmlns:ai": _AI, "xmlns:relation": _VOCABULARY}
    root = ET.Element("arf:asset-report-collection", spaces)
    related = put(root, "core:relationships")
    for phase in PHASES:
        for kind, of in (("isAbout", _ASSET), ("createdFor", _REQUEST)):
            about = put(related, "core:relationship", type=f"relation:{kind}", subject=phase)
            put(about, "core:ref", of)
    request = put(put(root, "arf:report-requests"), "arf:report-request", id=_REQUEST)
    benchmark_below(put(request, "arf:content"), case)
    asset = put(put(root, "arf:assets"), "arf:asset", id=_ASSET)
    put(put(asset, "ai:computing-device"), "ai:hostname", case.request.host)
    reports = put(root, "arf:reports")
    for phase in PHASES:
        result_in(put(put(reports, "arf:report", id=phase), "arf:content"), case, phase, xmlns=SPACE)
    return document(root)
