import json

import pytest

from app.errors import BadInput
from app.evidence.incoming.checklist import read_checklist


def checklist(*rules):
    return json.dumps({"stigs": [{"rules": list(rules), "size": 9}], "cklb_version": "1.0"}).encode()


def test_names_and_findings_whatever_else_stands_there():
    rule = {"group_id": "V-1", "rule_version": "RHEL-09-1", "rule_id": "SV-1r2", "severity": "high", "overrides": {}}
    words = ["open", "not_a_finding", "not_applicable", "not_reviewed", "Open", "nonsense"]
    read = read_checklist(checklist(*({**rule, "status": word} for word in words)))
    assert [one.finding for one in read] == ["open", "closed", "closed", "undecided", "open", "undecided"]
    assert read[0].names == ("V-1", "RHEL-09-1", "SV-1r2")


def test_a_byte_order_mark_is_no_obstacle():
    assert read_checklist(b"\xef\xbb\xbf" + checklist()) == []


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b"{}", b'{"stigs": 7}', b'{"stigs": [{"rules": [{}]}]}', b"\xff{", b'{"stigs":' + b"[" * 200_000],
)
def test_what_is_no_checklist_is_one_sentence(content):
    with pytest.raises(BadInput, match="it is no CKLB"):
        read_checklist(content)
