"""What changed since the reader's last visit, told from the log."""

import pytest

from app.web.pages.last_look import VISIT_GAP, find_last_look
from tests.runs.doors import house
from tests.runs.test_approval_answer import asks
from tests.web.pages.test_inbox import ASKED

NOW = 10_000.0


@pytest.mark.parametrize(
    ("cookie", "since"),
    [
        ("100-200-", 200.0),  # the visit is over
        (f"100-{NOW - 5}-", 100.0),  # it goes on
        (f"{NOW - VISIT_GAP - 2}-{NOW - VISIT_GAP - 1}-", NOW - VISIT_GAP - 1),
        ("100-200-other", None),
        ("200-100-", None),
        ("100-20000-", None),
        ("nan-nan-", None),
        ("<b>", None),
        ("", None),
    ],
)
def test_the_last_visit_ended(cookie, since):
    assert find_last_look(cookie, "", NOW) == since


@pytest.fixture
async def doors(tmp_path):
    async with house(tmp_path / "data") as made:
        yield made


async def test_the_first_visit_is_told_nothing_and_the_next_one_what_changed(doors):
    doors.append("r1", *ASKED, asks())
    first = (await doors.http.get("/fleet")).text
    assert 'id="looked"' in first
    assert " hidden" in first.split('id="looked"')[1].split(">")[0]
    later = (await doors.http.get("/fleet", headers={"cookie": "temper-looked=0.1-0.2-"})).text
    said = later.split('id="looked"')[1].split("</section>")[0]
    assert " hidden" not in said.split(">")[0]
    assert "1 new decision waits" in said
