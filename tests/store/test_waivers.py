"""Who is told of a waiver's end, and when."""

from datetime import UTC, datetime

import pytest
from sqlmodel import Session

from app.errors import Rejected
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.host_groups import replace_group
from app.store.prior_knowledge import StoredRunHistory
from app.store.waivers import WaiverRow, list_waivers, list_waivers_ending_soon_or_recently_ended, require_waiver

DAY = 24 * 3600.0
END = datetime(2027, 1, 31, tzinfo=UTC).timestamp()


def row(**more):
    words = {"owner": "Ops lead", "reason": "why", "ticket": "", "until": "2027-01-31", "by": "ada"}
    where = {"id": "w1", "rule": "V-257985", "scope_kind": "host", "scope_name": "web-1"}
    return WaiverRow(**{**words, **where, "made_at": END - 90 * DAY, **more})


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (END - 7 * DAY - 1, ""),
        (END - 7 * DAY, "ends on 2027-01-31: V-257985 on host web-1, owner Ops lead. Fix it"),
        (END - 1, "ends on 2027-01-31"),
        (END, "ended on 2027-01-31: V-257985 on host web-1, owner Ops lead, is open again."),
        (END + 7 * DAY - 1, "ended on"),
        (END + 7 * DAY, ""),
    ],
)
def test_a_week_before_and_a_week_after(now, told):
    found = list_waivers_ending_soon_or_recently_ended([row()], now)
    assert [told in one.summary for one in found] == ([True] if told else [])


def test_one_that_was_made_for_less_than_a_week_is_told_from_then_on():
    (one,) = list_waivers_ending_soon_or_recently_ended([row(made_at=END - 2 * DAY)], END - DAY)
    assert (one.kind, one.since) == ("waiver.ending", END - 2 * DAY)


def test_what_was_taken_back_or_made_anew_is_nobodys_concern():
    later = row(id="w2", until="2027-03-31")
    assert list_waivers_ending_soon_or_recently_ended([row(ended_at=END - 60 * DAY)], END - DAY) == []
    assert list_waivers_ending_soon_or_recently_ended([row(), later], END - DAY) == []
    assert [
        one.row.id
        for one in list_waivers_ending_soon_or_recently_ended(
            [row(), row(id="w2", scope_name="web-2", until="2027-03-31")], END - DAY
        )
    ] == ["w1"]


@pytest.fixture
def database(tmp_path):
    made = open_and_migrate_database(tmp_path / "temper.sqlite")
    yield made
    made.dispose()


def test_a_run_asks_for_those_of_its_host_and_those_of_all(database):
    rows = [
        row(id="here"),
        row(id="there", scope_name="web-2"),
        row(id="all", scope_kind="all", scope_name=""),
        row(id="back", ended_at=END - 80 * DAY),
    ]
    with Session(database) as session, session.begin():
        session.add_all(rows)
    stored = StoredRunHistory(database, EventStore(database), "r")
    assert {one.id for one in stored.list_active_waivers("web-1", END - 1)} == {"here", "all"}
    assert stored.list_active_waivers("web-1", END) == ()


def test_a_group_has_who_is_in_it_when_a_run_begins(database):
    with Session(database) as session, session.begin():
        session.add(row(scope_kind="group", scope_name="web"))
    stored = StoredRunHistory(database, EventStore(database), "r")

    def covered():
        return [host for host in ("web", "web-1", "web-2") if stored.list_active_waivers(host, END - 1)]

    for members in (["web-1"], ["web-1", "web-2"], ["web-2"], []):
        with Session(database) as session, session.begin():
            replace_group(session, "web", members)
        assert covered() == members
    assert list_waivers_ending_soon_or_recently_ended([row(scope_kind="group", scope_name="web")], END - 1)[
        0
    ].summary.startswith("Waiver w1 ends on 2027-01-31: V-257985 on group web, owner Ops lead.")


def test_those_taken_back_are_listed_last(database):
    with Session(database) as session, session.begin():
        session.add_all([row(id="back", ended_at=END - 80 * DAY), row(id="here")])
    with Session(database) as session:
        assert [one.id for one in list_waivers(session)][-1] == "back"


def test_a_waiver_is_found_by_its_id_or_refused(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    with Session(database) as session:
        session.add(row())
        assert require_waiver(session, "w1").rule == "V-257985"
        with pytest.raises(Rejected, match="there is no waiver 'w2'"):
            require_waiver(session, "w2")
    database.dispose()
