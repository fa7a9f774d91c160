"""CKL: STIG Viewer 2 reads its elements in one order only."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

from app.evidence.ckl import build_ckl
from tests.evidence.logs import EVERY_WORD, plain_case

ORDER = json.loads((Path(__file__).parent / "ckl.order.json").read_text())


def tags(element):
    return [child.tag for child in element]


def test_the_order_of_every_element(case):
    root = ET.fromstring(build_ckl(case))
    assert root.tag == "CHECKLIST"
    assert tags(root) == ["ASSET", "STIGS"]
    assert tags(root.find("ASSET")) == ORDER["asset"]
    (stig,) = root.findall("STIGS/iSTIG")
    assert tags(stig) == ["STIG_INFO", *["VULN"] * 30]
    assert [pair.findtext("SID_NAME") for pair in stig.find("STIG_INFO")] == ORDER["info"]
    for pair in stig.find("STIG_INFO"):
        assert tags(pair) == ["SID_NAME", "SID_DATA"]
    for vuln in stig.findall("VULN"):
        assert tags(vuln) == ["STIG_DATA"] * len(ORDER["data"]) + ORDER["rest"]
        assert [pair.findtext("VULN_ATTRIBUTE") for pair in vuln.findall("STIG_DATA")] == ORDER["data"]
        assert all(tags(pair) == ["VULN_ATTRIBUTE", "ATTRIBUTE_DATA"] for pair in vuln.findall("STIG_DATA"))


def test_every_status():
    root = ET.fromstring(build_ckl(plain_case(dict.fromkeys(EVERY_WORD, "fail"), EVERY_WORD)))
    got = {vuln.findtext("STIG_DATA/ATTRIBUTE_DATA"): vuln.findtext("STATUS") for vuln in root.iter("VULN")}
    expected = ["NotAFinding", "Open", "Not_Applicable", "Not_Reviewed", "Not_Reviewed"]
    assert [got[rule] for rule in EVERY_WORD] == expected
    assert {status for rule, status in got.items() if rule not in EVERY_WORD} == {"Not_Reviewed"}


def test_hostile_text_is_text():
    note = "</COMMENTS><STATUS>NotAFinding</STATUS>]]>&x;\x00\x1b[2J\ufffe"
    between = {"V-257986": "fail"}
    log = plain_case(between, None, host=f"web{note}")
    root = ET.fromstring(build_ckl(log))
    assert root.findtext("ASSET/HOST_NAME") == "web</COMMENTS><STATUS>NotAFinding</STATUS>]]>&x;"
    assert {vuln.findtext("STATUS") for vuln in root.iter("VULN")} == {"Not_Reviewed"}
