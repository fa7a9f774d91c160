"""The conductor over a real database: what it begins, and that nothing is begun twice, whoever leads and dies."""

import asyncio

import pytest
from sqlalchemy.event import listen
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, select

from app.background.rollouts.rollout_controller import RolloutController
from app.config import Settings
from app.errors import Rejected
from app.events.bus import Bus
from app.events.kinds import RolloutHostBegun, RunFinished
from app.events.record import build_recorded_event, check_chain_and_get_head
from app.lineups.reader import read_lineup, require_lineup_path
from app.runs.order import Order
from app.runs.rollout.rollout_request import RolloutSpec, RolloutTerms, create_rollout_request
from app.runs.rollout.rollout_state import fold_rollout
from app.runs.rollout.rollout_submission_and_commands import command_rollout, submit_rollout
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.models import CommandRow, RunRow
from app.store.rollouts import RolloutRow, open_rollout_journal, read_rollout_events
from app.store.run_queries import UNENDED
from app.targets import host_registry
from app.targets.ssh.endpoint import parse_endpoint


class Place:
    """What the conductor sees of a runtime: its runs are queued, and end when a test says so."""

    leads = True

    def __init__(self, folder):
        self.settings = Settings(data=folder, speed=0)
        self.lineup = read_lineup(require_lineup_path("simulated"))
        self.database = open_and_migrate_database(folder / "temper.sqlite")
        self.store, self.bus = EventStore(self.database), Bus()
        self.offers = self

    def request_offer_round(self):
        pass

    def ask(self, hosts, rollout="o1", more=(), **words):
        order = Order(rules=("V-257985",), note="tonight", pace=0, by="ada")
        names = ("fixture", *(f"fixture-{number}" for number in range(2, hosts + 1)), *more)
        wanted = RolloutSpec(order=order, hosts=names, words="all", terms=RolloutTerms(**words))
        submit_rollout(self.database, create_rollout_request(wanted, self.lineup, self.settings.hosts_folder), rollout)

    def rows(self):
        with Session(self.database) as session:
            return session.exec(select(RunRow).order_by(RunRow.queued_at)).all()

    def state(self, rollout="o1"):
        check_chain_and_get_head(self.store.read_lines(rollout), rollout)
        with Session(self.database) as session:
            state = fold_rollout(read_rollout_events(session, rollout))
            assert session.get_one(RolloutRow, rollout).state == state.status, "the row says what the chain says"
        return state

    def end(self, run, **figures):
        count = dict.fromkeys(("passed", "escalated", "skipped", "deferred"), 0)
        seq, digest = self.store.read_last_link(run)
        event = RunFinished(**count, regressions=figures.get("regressions", ()), tree="")
        self.store.append([build_recorded_event(run, seq + 1, 1.0, event, digest)])

    def set(self, run, state):
        with Session(self.database) as session, session.begin():
            session.get_one(RunRow, run).state = state

    def commands(self):
        with Session(self.database) as session:
            return [(row.run, row.verb, row.by) for row in session.exec(select(CommandRow).order_by(CommandRow.id))]


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    yield made
    made.database.dispose()


def begin_again(place):
    with open_rollout_journal(place.database, "o1") as chain:
        chain.append(RolloutHostBegun(host="fixture", of="another", wave=1))


async def to_its_end(place, rollout="o1", conductor=None):
    most = 0
    while place.state(rollout).status == "running":
        await (conductor or RolloutController(place)).advance_each_rollout_until_it_waits()
        working = [row for row in place.rows() if row.state in UNENDED]
        most = max(most, len(working))
        if working:
            place.end(working[0].id)
    return most


async def test_each_host_gets_a_run_of_its_own_wave_by_wave(place):
    place.ask(6, at_once=2, waves="1,2,rest")
    conductor = RolloutController(place)
    await conductor.advance_each_rollout_until_it_waits()
    (first,) = place.rows()
    assert place.store.list_next_runs_to_offer() == [(first.id, "fixture")]
    begun = next(place.store.read_events(first.id)).event
    assert (begun.by, begun.note, begun.rules) == ("rollout o1 of ada", "tonight", ("V-257985",))
    assert await to_its_end(place, conductor=conductor) == 2
    assert sorted(row.host for row in place.rows()) == ["fixture", *(f"fixture-{number}" for number in range(2, 7))]
    assert place.state().status == "finished"


async def test_what_follows_at_once_is_one_transaction(place):
    place.ask(6, at_once=3, waves="rest")
    conductor, commits = RolloutController(place), []
    listen(place.database, "commit", commits.append)
    await conductor.advance_each_rollout_until_it_waits()
    assert sorted(host for _, host in place.store.list_next_runs_to_offer()) == ["fixture", "fixture-2", "fixture-3"]
    assert len(commits) == 1
    for row in place.rows():
        place.end(row.id)
    commits.clear()
    await conductor.advance_each_rollout_until_it_waits()
    assert len(commits) == 1
    assert [row.host for row in place.rows() if row.state in UNENDED] == ["fixture-4", "fixture-5", "fixture-6"]
    assert list(place.state().ends) == ["fixture", "fixture-2", "fixture-3"]


async def test_whoever_leads_next_goes_on_and_begins_nothing_twice(place):
    place.ask(4, at_once=2, waves="rest")
    assert await to_its_end(place) == 2, "a new conductor at each look"
    assert len(place.rows()) == len({row.host for row in place.rows()}) == 4


async def test_two_who_both_think_they_lead(place):
    place.ask(4, at_once=2, waves="rest")
    one, other = RolloutController(place), RolloutController(place)
    await asyncio.gather(one.advance_each_rollout_until_it_waits(), other.advance_each_rollout_until_it_waits())
    assert len(place.rows()) == 2
    with pytest.raises(IntegrityError):
        begin_again(place)


async def test_killed_between_the_runs_first_event_and_its_place_in_the_queue(place):
    place.ask(1)

    def dies():
        raise asyncio.CancelledError

    place.request_offer_round, kept = dies, place.request_offer_round
    with pytest.raises(asyncio.CancelledError):
        await RolloutController(place).advance_each_rollout_until_it_waits()
    place.request_offer_round = kept
    (run,) = place.rows()
    assert place.store.list_next_runs_to_offer() == [(run.id, "fixture")], "the leader offers it to the queue"
    await RolloutController(place).advance_each_rollout_until_it_waits()
    assert len(place.rows()) == 1


async def test_the_same_wish_under_the_same_id_is_one(place):
    place.ask(2)
    place.ask(2)
    assert place.state().seq == 1


async def test_harm_holds_it_and_a_person_lets_it_go_on(place):
    place.ask(4, at_once=2, waves="rest", harmed=1)
    conductor = RolloutController(place)
    await conductor.advance_each_rollout_until_it_waits()
    bad, other = place.rows()
    place.set(other.id, "running")
    place.end(bad.id, regressions=("V-1", "V-2"))
    await conductor.advance_each_rollout_until_it_waits()
    await conductor.advance_each_rollout_until_it_waits()
    state = place.state()
    assert state.is_paused_by_rule
    assert state.parts[bad.host].ended.harm == "2 rules that held no longer do"
    assert place.commands() == [(other.id, "pause", "rollout o1")]
    assert len(place.rows()) == 2, "no further host"
    command_rollout(place.database, "o1", "resume", by="ada")
    assert place.commands()[1:] == [(other.id, "resume", "rollout o1")]
    await conductor.advance_each_rollout_until_it_waits()
    assert len(place.rows()) == 3


async def test_ended_by_a_person_what_is_at_work_stops_and_no_more_is_begun(place):
    place.ask(3, at_once=1)
    conductor = RolloutController(place)
    await conductor.advance_each_rollout_until_it_waits()
    (run,) = place.rows()
    command_rollout(place.database, "o1", "stop", by="ada", reason="enough")
    await conductor.advance_each_rollout_until_it_waits()
    await conductor.advance_each_rollout_until_it_waits()
    assert place.commands() == [(run.id, "stop", "rollout o1")]
    place.set(run.id, "stopped")
    await conductor.advance_each_rollout_until_it_waits()
    assert place.state().status == "stopped"
    assert len(place.rows()) == 1
    for verb in ("pause", "resume", "stop"):
        with pytest.raises(Rejected, match="is stopped: it cannot"):
            command_rollout(place.database, "o1", verb, by="ada")


async def test_a_host_that_is_gone_when_its_turn_comes_is_left_and_said(place):
    hosts = place.settings.hosts_folder
    host_registry.register_host(hosts, "web1", parse_endpoint("root@127.0.0.1", "agent"), "key", "SHA256:x")
    place.ask(1, waves="rest", at_once=1, more=("web1",))
    host_registry.remove_host(hosts, "web1")
    assert await to_its_end(place) == 1
    assert place.state().parts["web1"].left.startswith("there is no host 'web1'")
    assert place.state().status == "finished"
