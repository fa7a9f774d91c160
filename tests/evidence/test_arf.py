from xml.etree import ElementTree as ET

from app.evidence.xccdf_and_arf import build_arf
from tests.evidence.logs import (
    EVERY_WORD,
    chain,
    finished,
    plain_case,
    queued,
    read_run_record,
    scoped,
    started,
    verdicts,
)

X = "{http://checklists.nist.gov/xccdf/1.2}"


def results(root, phase):
    (result,) = [one for one in root.iter(f"{X}TestResult") if one.get("id").endswith(phase)]
    return result


def words(result):
    return {one.get("idref").rpartition("_")[2]: one.findtext(f"{X}result") for one in result.iter(f"{X}rule-result")}


def test_both_scans_with_every_word():
    root = ET.fromstring(build_arf(plain_case(dict.fromkeys(EVERY_WORD, "fail"), EVERY_WORD)))
    after, before = words(results(root, "closing")), words(results(root, "opening"))
    assert {rule: after[rule] for rule in EVERY_WORD} == EVERY_WORD
    assert {before[rule] for rule in EVERY_WORD} == {"fail"}
    assert {word for rule, word in after.items() if rule not in EVERY_WORD} == {"notselected"}


def test_without_a_closing_scan_rules_are_not_checked():
    root = ET.fromstring(build_arf(plain_case(EVERY_WORD, None)))
    after = words(results(root, "closing"))
    assert {after[rule] for rule in EVERY_WORD} == {"notchecked"}


def test_every_report_is_about_the_host_and_in_the_schemas_order(case):
    root = ET.fromstring(build_arf(case))
    assert [child.tag.rpartition("}")[2] for child in root] == ["relationships", "report-requests", "assets", "reports"]
    for result in root.iter(f"{X}TestResult"):
        order = list(dict.fromkeys(child.tag.removeprefix(X) for child in result))
        assert order == ["benchmark", "title", "remark", "identity", "target", "target-facts", "rule-result", "score"]
        for one in result.iter(f"{X}rule-result"):
            inner = list(dict.fromkeys(child.tag.removeprefix(X) for child in one))
            assert inner == [tag for tag in ("result", "ident", "message", "check") if tag in inner]


def test_who_gave_the_verdict_is_said_by_name():
    rule = {"V-257984": "fail"}
    said = [*verdicts("opening", rule, "OpenSCAP 1.3.10"), scoped(rule), *verdicts("closing", rule, "OpenSCAP 1.3.10")]
    root = ET.fromstring(build_arf(read_run_record(chain([queued(rule), started(), *said, finished()]))))
    (one,) = [one for one in results(root, "closing").iter(f"{X}rule-result") if one.find(f"{X}check") is not None]
    assert one.find(f"{X}check").get("system") == "urn:temper:scanner:openscap"
    assert one.findtext(f"{X}message").startswith("scanner OpenSCAP 1.3.10 says fail")
    assert [fact.text for fact in root.iter(f"{X}fact")] == ["OpenSCAP 1.3.10"] * 2
