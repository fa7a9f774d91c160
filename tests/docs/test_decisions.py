"""Every decision has a number, the headings of its neighbours, at most a page of text, and a line in the index."""

import re

from tests.docs.commands import ROOT

FOLDER = ROOT / "docs" / "decisions"
RECORDS = sorted(FOLDER.glob("[0-9]*.md"))
HEADINGS = ["Context", "Decision", "Consequences", "What was tried"]
BEGINNING = re.compile(
    r"# (\d{4})\. .+\n\n- Status: (accepted|replaced by \[\d{4}\]\(\S+\))\n- Date: \d{4}-\d\d-\d\d\n\n## Context\n"
)


def test_records_are_numbered_without_a_gap_and_their_titles_say_the_number():
    assert [file.name[:4] for file in RECORDS] == [f"{number:04}" for number in range(1, len(RECORDS) + 1)]
    begun = {file.name: BEGINNING.match(file.read_text()) for file in RECORDS}
    assert [name for name, found in begun.items() if not found or found[1] != name[:4]] == []


def test_each_record_has_the_four_headings_and_fits_on_a_page():
    texts = {file.name: file.read_text() for file in RECORDS}
    assert {name for name, text in texts.items() if re.findall(r"^## (.+)$", text, re.MULTILINE) != HEADINGS} == set()
    assert {name: len(text.split()) for name, text in texts.items() if len(text.split()) > 450} == {}


def test_the_index_lists_each_record_once_by_its_title():
    lines = re.findall(r"^- \[(\d{4})\]\((\S+)\) (.+)$", (FOLDER / "index.md").read_text(), re.MULTILINE)
    titles = {file.name: file.read_text().partition("\n")[0].removeprefix("# ") for file in RECORDS}
    assert sorted((name, f"{number}. {title}") for number, name, title in lines) == sorted(titles.items())
