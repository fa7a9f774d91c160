"""What a log says of a host, cell by cell, kept by the transaction that appends it."""

import pytest
from sqlmodel import Session

from app.events.event_field_types import Budget
from app.events.kinds import (
    ActionRolledBack,
    DriftFound,
    ItemDeferred,
    ItemEscalated,
    ItemPassed,
    ItemSkipped,
    ItemStarted,
    RunFailed,
    RunQueued,
    VerdictGiven,
)
from app.events.record import GENESIS, build_recorded_event
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.host_rule_states import (
    StandingRow,
    decode_encoded_cells_by_rule,
    list_seen_skills,
    list_standings,
    parse_cell,
)


class Told:
    def __init__(self, database):
        self.database, self.store, self.last = database, EventStore(database), {}

    def tell(self, run, *events):
        lines = []
        for event in events:
            seq, digest = self.last.get(run, (0, GENESIS))
            line = build_recorded_event(run, seq + 1, 1000.0 + seq, event, digest)
            self.last[run] = line.seq, line.hash
            lines.append(line)
        self.store.append(lines)

    def begin(self, run, host="web1", skill="stig"):
        asked = {"rules": ("A", "B", "C"), "mode": "auto", "budget": Budget(), "lineup": "s", "simulated": True}
        self.tell(run, RunQueued(host=host, skill=skill, **asked))

    def letters(self, host="web1"):
        with Session(self.database) as session:
            row = session.get(StandingRow, (host, "stig"))
            return {rule: said[0] for rule, said in decode_encoded_cells_by_rule(row.cells).items()} if row else {}


@pytest.fixture
def told(tmp_path):
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    yield Told(database)
    database.dispose()


def verdict(rule, word, phase="opening"):
    return VerdictGiven(rule=rule, phase=phase, word=word, evidence="", scanner="built-in")


def test_from_the_opening_scan_to_the_end(told):
    told.begin("r1")
    assert told.letters() == {}
    told.tell("r1", verdict("A", "fail"), verdict("B", "pass"), verdict("C", "error"))
    assert told.letters() == {"A": "o", "B": "p", "C": "."}
    told.tell("r1", DriftFound(rules=("A",), since="r0"))
    assert told.letters()["A"] == "s"
    told.tell("r1", ItemStarted(rule="A", title="", category="I"))
    assert told.letters()["A"] == "w"
    told.tell(
        "r1", ActionRolledBack(rule="A", attempt=1, journal="j", paths=(), differences=(), probes=(), seconds=0.1)
    )
    assert told.letters()["A"] == "u"
    told.tell("r1", ItemPassed(rule="A", attempts=2))
    assert told.letters()["A"] == "p"
    told.tell("r1", verdict("A", "fail", "closing"), verdict("B", "pass", "closing"))
    assert told.letters() == {"A": "o", "B": "p", "C": "."}


def test_a_rule_that_applies_no_more_at_the_end_is_no_open_finding(told):
    told.begin("r1")
    told.tell("r1", verdict("A", "fail"), ItemStarted(rule="A", title="", category="I"))
    told.tell("r1", ItemPassed(rule="A", attempts=1), verdict("A", "notapplicable", "closing"))
    assert told.letters() == {"A": "."}


def test_what_is_left_to_a_person_what_is_deferred_and_what_a_stop_leaves(told):
    told.begin("r1")
    told.tell("r1", verdict("A", "fail"), verdict("B", "fail"), verdict("C", "fail"))
    told.tell("r1", ItemStarted(rule="A", title="", category="I"), ItemEscalated(rule="A", reason=""))
    told.tell("r1", ItemDeferred(rule="B", reason=""), ItemSkipped(rule="C", reason="only looked at"))
    assert told.letters() == {"A": "a", "B": "d", "C": "o"}
    told.begin("r2")
    told.tell("r2", verdict("A", "fail"), verdict("B", "pass"), verdict("C", "fail"))
    assert told.letters() == {"A": "a", "B": "p", "C": "o"}, "a scan that confirms an escalated finding settles nothing"
    told.tell("r1", ItemStarted(rule="C", title="", category="I"), RunFailed(reason="no route"))
    assert told.letters()["C"] == "o", "nobody works on it any more"


def test_a_skipped_rule_is_open_again_if_somebody_worked_on_it(told):
    told.begin("r1")
    told.tell("r1", verdict("A", "fail"), verdict("B", "fail"))
    told.tell("r1", ItemStarted(rule="A", title="", category="I"), ItemStarted(rule="B", title="", category="I"))
    told.tell("r1", ItemEscalated(rule="B", reason=""))
    told.tell("r1", *(ItemSkipped(rule=rule, reason="not needed") for rule in "AB"))
    assert told.letters() == {"A": "o", "B": "a"}


def test_a_cell_names_the_run_and_the_event_that_said_so_and_other_rules_stay(told):
    told.begin("r1")
    told.tell("r1", verdict("A", "fail"), verdict("B", "fail"))
    told.begin("r2")
    told.tell("r2", verdict("A", "pass"))
    with Session(told.database) as session:
        row = session.get_one(StandingRow, ("web1", "stig"))
        found = {rule: parse_cell(said) for rule, said in decode_encoded_cells_by_rule(row.cells).items()}
        assert (found["A"].run, found["A"].seq, found["A"].letter) == ("r2", 2, "p")
        assert (found["B"].run, found["B"].seq) == ("r1", 3)
        assert row.run == "r2"


def test_hosts_and_skills_stand_apart(told):
    told.begin("r1")
    told.begin("r2", host="db1", skill="drift")
    told.begin("r3", host="db1")
    for run in ("r1", "r2", "r3"):
        told.tell(run, verdict("A", "fail"))
    assert told.letters("db1") == {"A": "o"}
    with Session(told.database) as session:
        assert list_seen_skills(session) == ["stig", "drift"]
        assert sorted(row.host for row in list_standings(session, "stig")) == ["db1", "web1"]
        assert [row.host for row in list_standings(session, "drift")] == ["db1"]
