"""What others wrote: what is in it, and what it is refused for."""

import json

import pytest

from app.errors import BadInput
from app.evidence.incoming.assessment import parse_ckl_or_xccdf, parse_cklb
from app.evidence.incoming.elements import DEEPEST, read_root_tag_and_elements

XCCDF = 'xmlns="http://checklists.nist.gov/xccdf/1.2"'


def results(*pairs, benchmark=""):
    inner = "".join(f'<rule-result idref="{rule}"><result>{word}</result></rule-result>' for rule, word in pairs)
    return f"<r>{benchmark}<TestResult {XCCDF}>{inner}</TestResult></r>".encode()


def test_every_result_of_xccdf():
    words = ["fail", "pass", "fixed", "notapplicable", "notchecked", "notselected", "unknown", "error", "informational"]
    read = parse_ckl_or_xccdf(results(*((f"r{n}", word) for n, word in enumerate(words))))
    assert [one.finding for one in read] == ["open", "closed", "closed", "closed", *["undecided"] * 5]


def test_the_benchmark_beside_the_results_says_what_a_rule_is_called():
    rule = '<Rule id="long_name"><reference href="x">RHEL-09-255045</reference><ident system="y">CCE-1</ident></Rule>'
    (one,) = parse_ckl_or_xccdf(results(("long_name", "fail"), benchmark=f"<Benchmark {XCCDF}>{rule}</Benchmark>"))
    assert one.names == ("long_name", "CCE-1", "RHEL-09-255045")


def test_the_last_of_several_scans_counts():
    twice = results(("a", "fail"), ("b", "pass"), ("a", "pass"))
    assert [(one.names[0], one.finding) for one in parse_ckl_or_xccdf(twice)] == [("a", "closed"), ("b", "closed")]


def test_a_ckl():
    pair = "<STIG_DATA><VULN_ATTRIBUTE>{}</VULN_ATTRIBUTE><ATTRIBUTE_DATA>{}</ATTRIBUTE_DATA></STIG_DATA>"
    data = pair.format("Vuln_Num", "V-257985") + pair.format("Rule_Ver", "RHEL-09-255045")
    vuln = f"<VULN>{data}<STATUS>Open</STATUS><COMMENTS>&lt;STATUS&gt;</COMMENTS></VULN>"
    (one,) = parse_ckl_or_xccdf(f"<CHECKLIST><STIGS><iSTIG>{vuln}</iSTIG></STIGS></CHECKLIST>".encode())
    assert (one.names, one.finding) == (("V-257985", "RHEL-09-255045"), "open")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "declares a document type"),
        (b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "declares a document type"),
        (b"<a>&unknown;</a>", "it is no XML"),
        (b"<a>", "it is no XML"),
        (b"", "it is no XML"),
        (b"\x00\xff\xfe", "it is no XML"),
        (b"<html/>", "its root is 'html'"),
        (b"<a>" * (DEEPEST + 1), "nested deeper"),
    ],
)
def test_what_is_refused(content, said):
    with pytest.raises(BadInput, match=said):
        parse_ckl_or_xccdf(content)


def test_only_what_is_wanted_is_kept():
    root, kept = read_root_tag_and_elements(b"<r><x><big>text</big></x><keep a='1'>t<in>u</in></keep></r>", ("keep",))
    assert root == "r"
    assert [(one.tag, one.attributes, one.text, one.list_child_texts("in")) for one in kept] == [
        ("keep", {"a": "1"}, "t", ["u"])
    ]


def checklist(*rules):
    return json.dumps({"stigs": [{"rules": list(rules), "size": 9}], "cklb_version": "1.0"}).encode()


def test_names_and_findings_whatever_else_stands_there():
    rule = {"group_id": "V-1", "rule_version": "RHEL-09-1", "rule_id": "SV-1r2", "severity": "high", "overrides": {}}
    words = ["open", "not_a_finding", "not_applicable", "not_reviewed", "Open", "nonsense"]
    read = parse_cklb(checklist(*({**rule, "status": word} for word in words)))
    assert [one.finding for one in read] == ["open", "closed", "closed", "undecided", "open", "undecided"]
    assert read[0].names == ("V-1", "RHEL-09-1", "SV-1r2")


def test_a_byte_order_mark_is_no_obstacle():
    assert parse_cklb(b"\xef\xbb\xbf" + checklist()) == []


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b"{}", b'{"stigs": 7}', b'{"stigs": [{"rules": [{}]}]}', b"\xff{", b'{"stigs":' + b"[" * 200_000],
)
def test_what_is_no_checklist_is_one_sentence(content):
    with pytest.raises(BadInput, match="it is no CKLB"):
        parse_cklb(content)
