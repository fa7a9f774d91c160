"""What a run reads of the runs before it: only finished ones, of the same host and skill."""

import pytest
from sqlmodel import Session

from app.events.event_field_types import PendingSetting
from app.events.kinds import InForceChecked, ItemEscalated, ItemPassed, RunPaused, VerdictGiven
from app.events.record import build_recorded_event
from app.store.db import open_and_migrate_database
from app.store.event_batch_writer import to_columns
from app.store.events import EventStore
from app.store.models import EventRow, LessonRow, RunRow
from app.store.prior_knowledge import MOST_LESSONS, PreviousState, RunHistory, StoredRunHistory
from tests.evidence.logs import started
from tests.loop.playing import SOUND

RUN = {"host": "h", "skill": "stig", "mode": "auto", "state": "finished", "lineup": "l", "simulated": True, "note": ""}


@pytest.fixture
def database(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    yield database
    database.dispose()


def keep(database, run, at, *events, **more):
    with Session(database) as session:
        session.add(RunRow(id=run, queued_at=at, **{**RUN, **more}))
        lines = [build_recorded_event(run, seq, at, event, "x") for seq, event in enumerate(events, 1)]
        session.add_all(EventRow(**to_columns(line)) for line in lines)
        session.commit()


def history(database, run="now"):
    return StoredRunHistory(database, EventStore(database), run)


def verdict(rule, word, phase="closing"):
    return VerdictGiven(rule=rule, phase=phase, word=word, evidence="", scanner="s")


def test_a_host_without_a_past_has_none(database):
    keep(database, "now", 10.0, state="running")
    for past in (history(database), RunHistory()):
        assert past.read_last_run_and_passed_rules() == ("", frozenset())
        assert past.read_previous_state() == PreviousState()
        assert list(past.list_known_lessons("A")) == []
        assert list(past.list_fixes_proven_elsewhere("A", "s", is_host_simulated=True)) == []
        assert past.list_active_waivers("h", 0.0) == ()


@pytest.mark.parametrize(
    ("at", "more"),
    [(20.0, {}), (3.0, {"host": "other"}), (3.0, {"skill": "drift"}), (3.0, {"state": "failed"}), (1.0, {})],
)
def test_only_the_newest_finished_run_of_the_same_host_and_skill_counts(database, at, more):
    keep(database, "now", 10.0, state="running")
    keep(database, "last", 2.0, verdict("A", "pass"))
    keep(database, "another", at, verdict("B", "pass"), **more)
    assert history(database).read_last_run_and_passed_rules() == ("last", {"A"})
    assert history(database).read_previous_state().run == "last"


def test_a_look_is_the_newest_word_on_rules_and_leaves_the_host_as_it_was(database):
    keep(database, "now", 10.0, state="running")
    keep(database, "changed", 1.0, verdict("A", "pass"))
    keep(database, "looked", 2.0, verdict("B", "pass"), mode="scan")
    keep(database, "tried", 3.0, verdict("C", "pass"), mode="dry-run")
    assert history(database).read_last_run_and_passed_rules() == ("tried", {"C"})
    assert history(database).read_previous_state().run == "changed"
    keep(database, "reviewed", 4.0, mode="review")
    assert history(database).read_previous_state().run == "reviewed"


def test_the_closing_word_on_a_rule_replaces_the_opening_one_and_no_other_does(database):
    keep(database, "now", 10.0, state="running")
    told = (("A", "pass", "opening"), ("B", "pass", "opening"), ("C", "fail", "opening"), ("D", "pass", "attempt"))
    words = [
        verdict(*one) for one in (*told, ("B", "fail", "closing"), ("C", "pass", "closing"), ("A", "fail", "recheck"))
    ]
    keep(database, "last", 1.0, *words)
    assert history(database).read_last_run_and_passed_rules() == ("last", {"A", "C"})


def pending(setting):
    return PendingSetting(program="sshd", setting=setting, wanted="1", running="0", by="reload")


def test_what_a_run_left_pending_is_that_of_the_rules_that_it_fixed(database):
    keep(database, "now", 10.0, state="running")
    events = [
        started(probes=SOUND),
        InForceChecked(boot="b1", behind=(pending("early"),)),
        InForceChecked(rule="A", boot="b1", behind=(pending("first"),)),
        InForceChecked(rule="A", boot="b2", behind=(pending("second"), pending("third"))),
        InForceChecked(rule="B", behind=(pending("other"),)),
        ItemPassed(rule="A", attempts=1),
        ItemPassed(rule="C", attempts=1),
        ItemEscalated(rule="B", reason=""),
        ItemEscalated(rule="C", reason="", reopened=True),
        verdict("A", "pass"),
        RunPaused(by="ada"),
    ]
    keep(database, "last", 1.0, *events)
    left = history(database).read_previous_state()
    assert (left.run, left.boot, left.probes) == ("last", "b2", SOUND)
    assert (left.held, left.passed) == ({"A"}, {"A"})
    assert left.behind == (("A", pending("second")), ("A", pending("third")))


def test_the_best_lessons_of_a_rule_are_told(database):
    keep(database, "now", 10.0, state="running")
    texts = {"host": "h", "run": "r", "mechanism": "m", "environment": "e", "advice": "a"}
    with Session(database) as session:
        for n in range(MOST_LESSONS + 2):
            session.add(LessonRow(id=str(n), rule="A", at=float(n), uses=1, hits=1, **texts))
        session.add(LessonRow(id="other", rule="B", at=99.0, **texts))
        session.commit()
    assert [one.id for one in history(database).list_known_lessons("A")] == ["4", "3", "2"]
    assert history(database).list_known_lessons("A")[0].advice == "a"
