"""Which runs and rollouts a webhook is owed, and how far its deliveries have come."""

import pytest
from sqlmodel import Session

from app.events.kinds import RunFinished
from app.events.record import build_recorded_event
from app.store import webhooks
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.models import EventRow
from app.store.rollouts import RolloutRow
from app.store.webhooks import DeliveryProgressRow, EventSubject, WebhookRow
from tests.loop.playing import pack, request, rule

MADE = 100.0
QUEUED = request(pack([rule("A")]))
ENDED = RunFinished(passed=0, escalated=0, skipped=0, deferred=0, regressions=(), tree="")


class Place:
    def __init__(self, session):
        self.session, self.store = session, EventStore(session.get_bind())

    def add_run(self, run, queued_at, ended_at=None):
        self.store.append([build_recorded_event(run, 1, queued_at, QUEUED, "x")])
        if ended_at is not None:
            self.store.append([build_recorded_event(run, 2, ended_at, ENDED, "x")])

    def add_rollout(self, name, asked_at, ended_at=None, lines=0):
        state = "running" if ended_at is None else "finished"
        words = {"words": "group web", "hosts": 1, "reason": "", "mode": "auto", "skill": "stig", "note": "", "by": "a"}
        self.session.add(
            RolloutRow(id=name, state=state, simulated=False, asked_at=asked_at, ended_at=ended_at, **words)
        )
        for seq in range(1, lines + 1):
            self.session.add(EventRow(run=name, seq=seq, at=asked_at, kind="rollout.started", line=b"{}", hash="x"))
        self.session.flush()

    def add_webhook(self, name="w"):
        row = WebhookRow(id=name, url="https://x.example", secret="s", kinds="", created_at=MADE)
        webhooks.add_webhook(self.session, row)
        return row

    def read_progress(self, run):
        return webhooks.get_or_build_progress(self.session, "w", run).seq


@pytest.fixture
def place(tmp_path):
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    with Session(database) as session:
        yield Place(session)
    database.dispose()


def test_a_webhook_is_owed_runs_queued_since_it_was_added_and_those_in_progress_then(place):
    place.add_run("over", MADE - 9, MADE - 8)
    place.add_run("begun", MADE - 7)
    webhook = place.add_webhook()
    place.session.commit()
    place.add_run("later", MADE + 1)
    place.add_run("same moment", MADE)
    assert webhooks.list_runs_with_possibly_undelivered_events(place.session, webhook, 0.0) == [
        "begun",
        "same moment",
        "later",
    ]


def test_a_run_that_ended_too_long_ago_is_owed_no_more(place):
    webhook = place.add_webhook()
    place.session.commit()
    for run, ended in (("old", MADE + 49), ("young", MADE + 50), ("unended", None)):
        place.add_run(run, MADE, ended)
    assert webhooks.list_runs_with_possibly_undelivered_events(place.session, webhook, MADE + 50) == [
        "young",
        "unended",
    ]


def test_a_webhook_is_owed_rollouts_up_to_their_newest_line(place):
    place.add_rollout("over", MADE - 9, MADE - 8, lines=2)
    place.add_rollout("begun", MADE - 7, lines=2)
    webhook = place.add_webhook()
    place.add_rollout("same moment", MADE, lines=3)
    place.add_rollout("no line", MADE + 1)
    place.add_rollout("old", MADE + 2, MADE + 49)
    place.add_rollout("young", MADE + 2, MADE + 50)
    owed = webhooks.map_rollouts_to_deliver_to_newest_seqs(place.session, webhook, MADE + 50)
    assert owed == {"begun": 2, "same moment": 3, "no line": 0, "young": 0}


def test_the_events_from_before_a_webhook_was_added_are_not_delivered(place):
    place.add_run("begun", MADE - 7)
    place.add_run("over", MADE - 9, MADE - 8)
    place.add_rollout("rollout", MADE - 7, lines=2)
    place.add_webhook()
    assert [place.read_progress(run) for run in ("begun", "over", "rollout")] == [1, 0, 2]


def test_an_event_is_about_the_host_of_its_run_or_the_hosts_of_its_rollout(place):
    place.add_run("run", MADE)
    place.add_rollout("rollout", MADE)
    found = [webhooks.find_subject_host_and_simulated(place.session, name) for name in ("run", "rollout", "neither")]
    assert found == [EventSubject("h", True), EventSubject("group web", False), EventSubject("", False)]


def test_a_deleted_webhook_takes_its_progress_along_and_no_others(place):
    place.add_run("begun", MADE - 7)
    for name in ("w", "other"):
        place.add_webhook(name)
    webhooks.delete_webhook(place.session, "w")
    assert [row.id for row in webhooks.list_webhooks(place.session)] == ["other"]
    assert place.session.get(DeliveryProgressRow, ("w", "begun")) is None
    assert place.session.get(DeliveryProgressRow, ("other", "begun")).seq == 1


def test_a_run_that_is_asked_for_again_is_delivered_from_its_first_event(place):
    place.add_run("begun", MADE - 7)
    place.add_webhook()
    assert webhooks.list_runs_to_redeliver(place.session, "w") == []
    webhooks.request_redelivery_from_first_event(place.session, "w", "begun")
    place.session.expire_all()
    assert webhooks.list_runs_to_redeliver(place.session, "w") == ["begun"]
    assert webhooks.list_runs_to_redeliver(place.session, "other") == []
    row = webhooks.get_or_build_progress(place.session, "w", "begun")
    assert (row.seq, row.attempts) == (0, 0)


def record(place, seq, before, **more):
    row, previous = (DeliveryProgressRow(webhook="w", run="r", seq=one) for one in (seq, before))
    webhooks.record_progress(place.session, row, previous=previous, **more)
    place.session.flush()
    place.session.expire_all()


def test_progress_counts_what_was_delivered_and_dropped_and_keeps_the_problem_if_told_to(place):
    webhook = place.add_webhook()
    record(place, 1, 0, delivered=1)
    record(place, 2, 1, dropped=1, problem="it answered 500")
    assert (webhook.delivered, webhook.dropped, webhook.problem) == (1, 1, "it answered 500")
    record(place, 3, 2, delivered=1, problem=None)
    assert (webhook.delivered, webhook.problem, place.read_progress("r")) == (2, "it answered 500", 3)
    record(place, 4, 3, delivered=1)
    assert webhook.problem == ""


def test_a_request_that_read_the_progress_before_the_last_one_was_whole_is_kept(place):
    place.add_webhook()
    webhooks.request_redelivery_from_first_event(place.session, "w", "r")
    place.session.commit()
    with Session(place.session.get_bind(), expire_on_commit=False) as other:
        before = webhooks.get_or_build_progress(other, "w", "r")
        other.commit()
        whole = DeliveryProgressRow(webhook="w", run="r", seq=5)
        webhooks.record_progress(place.session, whole, previous=before)
        place.session.commit()
        assert webhooks.list_runs_to_redeliver(place.session, "w") == []
        webhooks.request_redelivery_from_first_event(other, "w", "r")
        other.commit()
    assert webhooks.list_runs_to_redeliver(place.session, "w") == ["r"]


def test_progress_does_not_overwrite_a_request_that_came_meanwhile_or_revive_a_deleted_webhook(place):
    place.add_webhook()
    record(place, 5, 0)
    webhooks.request_redelivery_from_first_event(place.session, "w", "r")
    record(place, 6, 5)
    assert place.read_progress("r") == 0
    record(place, 1, 0)
    assert webhooks.list_runs_to_redeliver(place.session, "w") == ["r"], "its first delivery was in progress"
    webhooks.delete_webhook(place.session, "w")
    record(place, 1, 0)
    assert place.session.get(DeliveryProgressRow, ("w", "r")) is None
