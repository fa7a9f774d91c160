"""XML that others wrote: what is in it, and what it is refused for."""

import pytest

from app.errors import BadInput
from app.evidence.incoming.elements import DEEPEST, read_elements
from app.evidence.incoming.results import read_results

XCCDF = 'xmlns="http://checklists.nist.gov/xccdf/1.2"'


def results(*pairs, benchmark=""):
    inner = "".join(f'<rule-result idref="{rule}"><result>{word}</result></rule-result>' for rule, word in pairs)
    return f"<r>{benchmark}<TestResult {XCCDF}>{inner}</TestResult></r>".encode()


def test_every_result_of_xccdf():
    words = ["fail", "pass", "fixed", "notapplicable", "notchecked", "notselected", "unknown", "error", "informational"]
    read = read_results(results(*((f"r{n}", word) for n, word in enumerate(words))))
    assert [one.finding for one in read] == ["open", "closed", "closed", "closed", *["undecided"] * 5]


def test_the_benchmark_beside_the_results_says_what_a_rule_is_called():
    rule = '<Rule id="long_name"><reference href="x">RHEL-09-255045</reference><ident system="y">CCE-1</ident></Rule>'
    (one,) = read_results(results(("long_name", "fail"), benchmark=f"<Benchmark {XCCDF}>{rule}</Benchmark>"))
    assert one.names == ("long_name", "CCE-1", "RHEL-09-255045")


def test_the_last_of_several_scans_counts():
    twice = results(("a", "fail"), ("b", "pass"), ("a", "pass"))
    assert [(one.names[0], one.finding) for one in read_results(twice)] == [("a", "closed"), ("b", "closed")]


def test_a_ckl():
    pair = "<STIG_DATA><VULN_ATTRIBUTE>{}</VULN_ATTRIBUTE><ATTRIBUTE_DATA>{}</ATTRIBUTE_DATA></STIG_DATA>"
    data = pair.format("Vuln_Num", "V-257985") + pair.format("Rule_Ver", "RHEL-09-255045")
    vuln = f"<VULN>{data}<STATUS>Open</STATUS><COMMENTS>&lt;STATUS&gt;</COMMENTS></VULN>"
    (one,) = read_results(f"<CHECKLIST><STIGS><iSTIG>{vuln}</iSTIG></STIGS></CHECKLIST>".encode())
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
        read_results(content)


def test_only_what_is_wanted_is_kept():
    root, kept = read_elements(b"<r><x><big>text</big></x><keep a='1'>t<in>u</in></keep></r>", ("keep",))
    assert root == "r"
    assert [(one.tag, one.attributes, one.text, one.list_child_texts("in")) for one in kept] == [
        ("keep", {"a": "1"}, "t", ["u"])
    ]
