import pytest

from app.evidence.checklist_status import CKL_STATUS, to_checklist_status
from app.evidence.verify import CKL_STATUS as CKL_OF_SCRIPT
from app.evidence.verify import STATUS as STATUS_OF_SCRIPT
from tests.evidence.logs import plain_case

RULE = "V-257984"
EXPECTED = {
    "pass": "not_a_finding",
    "fail": "open",
    "notapplicable": "not_applicable",
    "unknown": "not_reviewed",
    "error": "not_reviewed",
}


@pytest.mark.parametrize(("word", "expected"), EXPECTED.items())
def test_the_last_word_decides(word, expected):
    case = plain_case({RULE: "fail"}, {RULE: word})
    assert [to_checklist_status(one.closing) for one in case.requested_rules] == [expected]


def test_without_a_closing_scan_nothing_is_reviewed_however_it_opened():
    case = plain_case({RULE: "pass"}, None)
    assert {to_checklist_status(one.closing) for one in case.judged} == {"not_reviewed"}


def test_what_was_not_asked_for_is_not_reviewed():
    case = plain_case({RULE: "fail"}, {RULE: "pass"})
    others = {to_checklist_status(one.closing) for one in case.judged if one.rule.id != RULE}
    assert others == {"not_reviewed"}
    assert len(case.judged) == 30


def test_the_script_in_the_pack_reads_words_as_we_do():
    """It stands alone on purpose, so it has tables of its own."""
    for word, expected in EXPECTED.items():
        assert STATUS_OF_SCRIPT.get(word, "not_reviewed") == expected
    for ours, shown in CKL_STATUS.items():
        assert CKL_OF_SCRIPT.get(ours, "Not_Reviewed") == shown
