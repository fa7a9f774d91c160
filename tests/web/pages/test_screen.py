"""Given these events, these messages: what a viewer is sent, and that a page and its stream agree."""

import json
import random
import re
from dataclasses import replace

import pytest
from msgspec import structs

from app.events.event_field_types import Budget
from app.events.kinds import (
    AttemptFailed,
    AttemptStarted,
    ItemStarted,
    RunQueued,
    RunScoped,
    RunStarted,
    TurnDelta,
    TurnFinished,
)
from app.events.record import GENESIS, build_recorded_event
from app.lineups.reader import read_lineup, require_lineup_path
from app.skills.catalog import load_skill
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.web.pages.mission.mission import Mission
from app.web.pages.mission.mission_loader import MissionLoader
from app.web.pages.mission.mission_parts import Scene, render_mission_parts
from app.web.pages.mission.page_stream_renderer import PageRenderer
from tests.loop.playing import World, pack, request, rule
from tests.waiting import watching_the_loop
from tests.web.pages.turns import turn_started

RULE = "V-257985"
SCENE = Scene(read_lineup(require_lineup_path("simulated")), load_skill("stig"), "live")


def delta(text):
    return TurnDelta(turn="t1", role="architect", channel="thought", text=text, tokens=1)


EVENTS = [
    RunQueued(
        host="fixture", skill="stig", rules=(RULE,), mode="auto", budget=Budget(), lineup="simulated", simulated=True
    ),
    RunStarted(worker="w", confinement="none", scanner="built-in", probes=()),
    RunScoped(order=(RULE,), compliant=(), undecided=()),
    ItemStarted(rule=RULE, title="root does not log in", category="II"),
    turn_started("t1", "architect", rule=RULE),
    delta("I <b>think</b> "),
    delta("so"),
    delta("."),
    TurnFinished(
        turn="t1",
        role="architect",
        purpose="plan",
        outcome="answered",
        detail="",
        thought="I <b>think</b> so.",
        answer="{}",
    ),
]


@pytest.fixture
def told(tmp_path):
    store, log, previous = EventStore(open_and_migrate_database(tmp_path / "t.sqlite")), [], GENESIS
    for seq, event in enumerate(EVENTS, 1):
        log.append(build_recorded_event("r", seq, 1000.0 + seq, event, previous))
        previous = log[-1].hash
    store.append(log)
    return store, log


def messages(content):
    for block in content.decode().split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith("data"))
        data = "\n".join(line[6:] for line in block.split("\n") if line.startswith("data"))
        yield int(fields["id"]), fields.get("event"), data


def test_tokens_travel_as_one_named_event_and_the_first_hands_the_engine_from_reading_to_decoding(told):
    store, log = told
    (seq, name, data), (_, other, parts) = messages(PageRenderer("r", MissionLoader(store), SCENE)(log[5:7]))
    assert (seq, name, other) == (7, "token", None)
    assert json.loads(data)["text"] == "I <b>think</b> so"
    assert "decoding" in parts
    names = [name for _, name, _ in messages(PageRenderer("r", MissionLoader(store), SCENE)(log[7:8]))]
    assert names == ["token", None]  # a second has gone by, so the clock and the time axis are sent, too


def test_what_else_changed_travels_as_parts_that_name_their_place(told):
    store, log = told
    ((seq, name, data),) = messages(PageRenderer("r", MissionLoader(store), SCENE)(log[4:5]))
    assert (seq, name) == (5, None)
    said = {"lane-architect", "now", "hold-gemma-31b", "clock"}
    assert set(re.findall(r'hx-target="#([a-z0-9-]+)"', data)) == said
    assert "serving <b>ARCHITECT</b>" in data


@pytest.mark.parametrize("cut", range(1, len(EVENTS)))
def test_a_late_viewer_gets_the_same_parts_as_one_who_was_there(told, cut):
    store, log = told
    there = PageRenderer("r", MissionLoader(store), SCENE)
    there(log[:cut])
    assert there(log[cut:]) == PageRenderer("r", MissionLoader(store), SCENE)(log[cut:])


def talking(seed):
    """Turns whose tokens come closely, now and then with something else between them."""
    dice, log, at, previous = random.Random(seed), [], 1000.0, GENESIS
    for event in EVENTS[:4] + [event for _ in range(6) for event in (EVENTS[4], *[delta("so ")] * 12, EVENTS[8])]:
        at += dice.choice((0.05, 0.05, 0.05, 0.4))
        log.append(build_recorded_event("r", len(log) + 1, at, event, previous))
        previous = log[-1].hash
    return dice, log


@pytest.mark.parametrize("seed", range(8))
async def test_what_is_told_at_once_is_what_a_thread_would_tell_and_nothing_is_waited_for(tmp_path, seed):
    dice, log = talking(seed)
    store = EventStore(open_and_migrate_database(tmp_path / "t.sqlite"))
    store.append(log)
    here, apart = (PageRenderer("r", MissionLoader(store), SCENE) for _ in range(2))
    told = []
    while log:
        size = dice.randint(1, 3)
        batch, log = log[:size], log[size:]
        with watching_the_loop() as watch:
            said = here.render_inline_if_cheap(batch)
        assert watch.waited == []
        told.append(said is not None)
        assert (here(batch) if said is None else said) == apart(batch)
    assert {True, False} == set(told)


def close_by(seconds):
    return [build_recorded_event("r", seq, 1005.0 + seconds * seq, delta("so"), GENESIS) for seq in (6, 7, 8, 9)]


async def test_what_the_screen_would_have_to_read_or_wait_for_is_left_to_a_thread(told):
    store, _ = told
    six, seven, eight, nine = close_by(0.01)
    screen = PageRenderer("r", MissionLoader(store), SCENE)
    with watching_the_loop() as watch:
        assert screen.render_inline_if_cheap([six]) is None, "it stands nowhere yet"
        assert b"decoding" in screen([six])
    assert "statement" in watch.waited[0], "what is read would not be found"
    assert screen.render_inline_if_cheap([eight]) is None, "an event lies between"
    with screen._lock:
        assert screen.render_inline_if_cheap([seven]) is None, "another thread renders"
    assert b'"text":"so"' in screen.render_inline_if_cheap([seven])
    assert screen.render_inline_if_cheap([eight]) is not None
    assert screen.render_inline_if_cheap([close_by(1.0)[3]]) is None, "the clock moves"
    assert screen.render_inline_if_cheap([nine]) is not None


@pytest.mark.parametrize("upto", range(1, len(EVENTS) + 1))
def test_the_page_at_a_seq_is_the_fold_of_the_events_up_to_it(told, upto):
    store, log = told
    whole = Mission()
    for recorded in log[:upto]:
        whole.apply_event(recorded)
    assert render_mission_parts(MissionLoader(store).load_mission("r", upto), SCENE) == render_mission_parts(
        whole, SCENE
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_long_run_opened_anywhere_is_what_it_was_for_who_watched_it(tmp_path, seed):
    """The frame and the detail in view add up to the whole fold."""
    dice = random.Random(seed)
    world = World(pack(rule(f"R{number}") for number in range(12)), lambda _, choices: dice.choice(choices))
    world.put(request(world.skill))
    world.play()
    store, watched = EventStore(open_and_migrate_database(tmp_path / "t.sqlite")), Mission()
    store.append(world.log)
    looks = sorted(dice.sample(range(1, len(world.log) + 1), 12))
    for recorded in world.log:
        watched.apply_event(recorded)
        if recorded.seq in looks:
            opened = render_mission_parts(MissionLoader(store).load_mission("r", recorded.seq), SCENE)
            assert opened == render_mission_parts(watched, SCENE), recorded.seq


def test_only_the_built_in_host_is_called_simulated(told):
    store, log = told
    assert "simulated host" in render_mission_parts(MissionLoader(store).load_mission("r"), SCENE)["status"]
    other = Mission()
    other.apply_event(build_recorded_event("s", 1, 1000.0, structs.replace(log[0].event, host="web1"), GENESIS))
    status = render_mission_parts(other, SCENE)["status"]
    assert "<b>web1</b>" in status
    assert "simulated" not in status


def test_an_attempt_that_was_taken_back_is_counted_and_marks_its_cell_and_one_that_never_ran_does_not(told):
    store, log = told
    mission = MissionLoader(store).load_mission("r")

    def fail(cause, seq):
        event = AttemptFailed(rule=RULE, attempt=1, cause=cause, reason="")
        mission.apply_event(build_recorded_event("r", seq, 1100.0, event, log[-1].hash))
        return render_mission_parts(mission, SCENE)

    mission.apply_event(
        build_recorded_event("r", 10, 1100.0, AttemptStarted(rule=RULE, attempt=1, lessons=()), log[-1].hash)
    )
    drawn = fail("refused", 11)
    assert undone(drawn) == "0"
    assert "again" not in drawn["ribbon"]
    drawn = fail("alarm", 12)
    assert undone(drawn) == "1"
    assert "rolled back once" in drawn["ribbon"]


def undone(drawn):
    return re.search(r"↺ (\d+)", drawn["progress"])[1]


def test_only_a_live_run_s_clock_goes_on(told):
    store, _ = told
    mission = MissionLoader(store).load_mission("r")
    assert "data-since" in render_mission_parts(mission, SCENE)["clock"]
    assert "data-since" not in render_mission_parts(mission, replace(SCENE, mode="replay"))["clock"]


def test_what_a_model_says_is_escaped(told):
    store, _ = told
    lane = render_mission_parts(MissionLoader(store).load_mission("r"), SCENE)["lane-architect"]
    assert "I &lt;b&gt;think&lt;/b&gt; so." in lane
    assert "<b>think" not in lane
