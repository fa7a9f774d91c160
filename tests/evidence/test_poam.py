import csv
import io
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.evidence.poam import (
    EMASS_COLUMNS,
    EMASS_LONGEST,
    build_emass_poam_csv,
    build_poam_csv,
    build_temper_poam_json,
    escape_cell,
)
from app.evidence.run_record import read_run_record
from tests.evidence.logs import EVERY_WORD, plain_case
from tests.evidence.published import NAMES, named_log
from tests.evidence.waived import waived_log


def rows(content):
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_what_does_not_hold_for_sure_is_left_to_do():
    case = plain_case(dict.fromkeys(EVERY_WORD, "fail"), EVERY_WORD)
    assert [row["rule"] for row in rows(build_poam_csv(case))] == ["V-257986", "V-257983", "V-257981"]
    items = json.loads(build_temper_poam_json(case))["items"]
    assert [(row["rule"], row["checklist_status"]) for row in items] == [
        ("V-257986", "open"),
        ("V-257983", "not_reviewed"),
        ("V-257981", "not_reviewed"),
    ]


def test_both_say_the_same_and_why(case):
    table, plan = rows(build_poam_csv(case)), json.loads(build_temper_poam_json(case))
    assert [row["rule"] for row in table] == [row["rule"] for row in plan["items"]] == ["V-258106", "V-258229"]
    assert table[0]["why_open"].startswith("escalated:")
    assert table[1]["why_open"].startswith("deferred: cannot be undone")
    assert table[0]["severity"] == "medium"
    assert table[0]["responsible"] == table[0]["scheduled_completion"] == ""
    assert plan["chain_head"] == case.head


@pytest.mark.parametrize(
    "hostile", ["=1+1", "+1", "-2", "@SUM(A1)", "\t=1", "\r=1", "  =cmd|' /C calc'!A0", "\n=1", "＝1"]
)
def test_a_cell_that_a_spreadsheet_would_run_becomes_text(hostile):
    assert escape_cell(hostile) == f"'{hostile}"


def test_a_hostile_host_name_stays_text_in_the_table():
    case = plain_case({"V-257986": "fail"}, {"V-257986": "fail"}, host='=HYPERLINK("http://x","y")')
    (row,) = rows(build_poam_csv(case))
    assert row["host"] == '\'=HYPERLINK("http://x","y")'
    assert json.loads(build_temper_poam_json(case))["items"][0]["host"].startswith("=")


@given(st.text())
@example("-")
def test_no_cell_begins_like_a_formula(text):
    assert not escape_cell(text).lstrip(" \n").startswith(("=", "+", "-", "@", "\t", "\r"))


def emass_rows(case):
    return list(csv.DictReader(io.StringIO(build_emass_poam_csv(case).decode("utf-8-sig"), newline="")))


def test_it_has_all_of_the_templates_headings_in_their_order():
    text = build_emass_poam_csv(plain_case(dict.fromkeys(EVERY_WORD, "fail"), EVERY_WORD)).decode("utf-8-sig")
    assert next(csv.reader(io.StringIO(text, newline=""))) == list(EMASS_COLUMNS)
    assert len(EMASS_COLUMNS) == 25


def test_a_row_names_the_check_as_disa_does():
    (row,) = emass_rows(read_run_record(named_log()))
    assert row["Security Checks"].splitlines() == [NAMES["V-257984"], "V-257984", "CCI-000766"]
    assert (row["Status"], row["Raw Severity"], row["Devices Affected"]) == ("Ongoing", "I", "web-1")
    assert row["Source Identifying Vulnerability"].startswith("A small guide in the form of a STIG :: Version 2")
    assert row["Scheduled Completion Date"] == row["Severity"] == row["Office/Org"] == ""


def test_what_somebody_answers_for_is_accepted_and_says_why():
    first, second = emass_rows(read_run_record(waived_log()))
    assert (first["Status"], second["Status"]) == ("Risk Accepted", "Ongoing")
    assert first["Comments"].startswith("WAIVED until 2026-12-24")


def test_no_field_is_longer_than_emass_takes_and_none_is_a_formula():
    case = plain_case({"V-257986": "fail"}, {"V-257986": "fail"}, host="=" + "x" * 3000)
    (row,) = emass_rows(case)
    assert row["Devices Affected"].startswith("'=x")
    assert max(map(len, row.values())) <= EMASS_LONGEST + 1
