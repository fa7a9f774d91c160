"""The plan under eMASS' headings."""

import csv
import io

from app.evidence.emass import COLUMNS, LONGEST, build_emass_poam
from app.evidence.run_record import read_run_record
from tests.evidence.logs import EVERY_WORD, plain_case
from tests.evidence.published import NAMES, named_log
from tests.evidence.waived import waived_log


def rows(case):
    return list(csv.DictReader(io.StringIO(build_emass_poam(case).decode("utf-8-sig"), newline="")))


def test_it_has_all_of_the_templates_headings_in_their_order():
    text = build_emass_poam(plain_case(dict.fromkeys(EVERY_WORD, "fail"), EVERY_WORD)).decode("utf-8-sig")
    assert next(csv.reader(io.StringIO(text, newline=""))) == list(COLUMNS)
    assert len(COLUMNS) == 25


def test_a_row_names_the_check_as_disa_does():
    (row,) = rows(read_run_record(named_log()))
    assert row["Security Checks"].splitlines() == [NAMES["V-257984"], "V-257984", "CCI-000766"]
    assert (row["Status"], row["Raw Severity"], row["Devices Affected"]) == ("Ongoing", "I", "web-1")
    assert row["Source Identifying Vulnerability"].startswith("A small guide in the form of a STIG :: Version 2")
    assert row["Scheduled Completion Date"] == row["Severity"] == row["Office/Org"] == ""


def test_what_somebody_answers_for_is_accepted_and_says_why():
    first, second = rows(read_run_record(waived_log()))
    assert (first["Status"], second["Status"]) == ("Risk Accepted", "Ongoing")
    assert first["Comments"].startswith("WAIVED until 2026-12-24")


def test_no_field_is_longer_than_emass_takes_and_none_is_a_formula():
    case = plain_case({"V-257986": "fail"}, {"V-257986": "fail"}, host="=" + "x" * 3000)
    (row,) = rows(case)
    assert row["Devices Affected"].startswith("'=x")
    assert max(map(len, row.values())) <= LONGEST + 1
