"""A replay of a run that was shrunk: turns whole instead of token by token, and to its end."""

import json
import shutil
import time

import pytest

from app.events.kinds import RunFailed
from app.events.record import GENESIS, build_recorded_event
from app.evidence.run_shrinking import store_evidence_and_delete_deltas_unless_shrunk
from app.lineups.reader import read_lineup, require_lineup_path
from app.skills.catalog import load_skill
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.web.pages.mission.mission_loader import MissionLoader
from app.web.pages.mission.mission_parts import Scene, render_mission_parts
from app.web.pages.mission.page_stream_renderer import PageRenderer
from app.web.pages.mission.replay_stream import CHUNK, Replay
from tests.evidence.played import KEY

SCENE = Scene(read_lineup(require_lineup_path("simulated")), load_skill("stig"), "replay")
AT_ONCE = 1e9


@pytest.fixture
def store(tmp_path, played):
    shutil.copytree(played[0], tmp_path / "data")
    database = open_and_migrate_database(tmp_path / "data" / "temper.sqlite")
    yield database, EventStore(database)
    database.dispose()


async def told(store, run, after, speed=AT_ONCE):
    """Ids and what is told, message by message, with the tokens set apart."""
    parts, tokens = [], []
    screen = PageRenderer(run, MissionLoader(store), SCENE)
    async for frame in Replay(store, run).stream_frames(screen, after, speed):
        for message in frame.decode().split("\n\n")[:-1]:
            (tokens if "event: token" in message else parts).append(message)
    return parts, tokens


async def test_turns_come_whole_and_the_replay_reaches_the_end(store, played, log):
    database, events = store
    run, last = played[1], log[-1].seq
    began = next(one.seq for one in log if one.event.__struct_config__.tag == "turn.started")
    turn = next(one for one in log if one.event.__struct_config__.tag == "turn.finished")
    assert log[began].event.__struct_config__.tag == "turn.delta"
    store_evidence_and_delete_deltas_unless_shrunk(database, run, KEY, "ada", time.time())
    screen = PageRenderer(run, MissionLoader(events), SCENE)
    frames = [one async for one in Replay(events, run).stream_frames(screen, began, AT_ONCE)]
    assert not [one for one in frames if b"event: token" in one]
    assert json.loads(frames[-1].decode().rsplit("data: ", 1)[1]) == {"seq": last}
    first = (
        await anext(Replay(events, run).stream_frames(PageRenderer(run, MissionLoader(events), SCENE), began, 0.001))
    ).decode()
    assert 'hx-target="#lane-architect"' in first
    assert all(word in first for word in turn.event.thought.split()[:5])


async def test_a_gap_wider_than_what_is_read_at_a_time_is_not_the_end(store, played):
    _, events = store
    asked = next(events.read_events(played[1], kinds=("run.queued",))).event
    first = build_recorded_event("gap", 1, 1.0, asked, GENESIS)
    events.append([first, build_recorded_event("gap", 10 * CHUNK, 2.0, RunFailed(reason="x"), first.hash)])
    parts, _ = await told(events, "gap", 0)
    assert parts[-1].endswith(f'{{"seq":{10 * CHUNK}}}')
    assert any("The run failed: x" in part for part in parts)


def test_every_page_of_a_shrunk_run_is_what_it_was_but_for_turns_that_are_open(store, played, log):
    database, events = store
    run = played[1]
    looks = [one.seq for one in log if one.event.__struct_config__.tag in ("turn.finished", "item.passed", "verdict")]
    before = {seq: render_mission_parts(MissionLoader(events).load_mission(run, seq), SCENE) for seq in looks}
    store_evidence_and_delete_deltas_unless_shrunk(database, run, KEY, "ada", time.time())
    for seq in looks:
        assert render_mission_parts(MissionLoader(events).load_mission(run, seq), SCENE) == before[seq], seq


def test_a_screen_goes_on_over_a_gap_as_one_who_comes_there(store, played, log):
    database, events = store
    run = played[1]
    store_evidence_and_delete_deltas_unless_shrunk(database, run, KEY, "ada", time.time())
    left = list(events.read_events(run))
    there = PageRenderer(run, MissionLoader(events), SCENE)
    seen = 0
    for one in left:
        sent = there([one])
        if one.seq > seen + 1 or one.seq % 4 == 0:  # over each gap, and now and then
            assert sent == PageRenderer(run, MissionLoader(events), SCENE)([one]), one.seq
        seen = one.seq
