"""A replay shows the engines and GPUs as they were, not as they are."""

import re
import time

import httpx
import pytest

from app.events.kinds import EngineSampled, EngineState
from app.events.record import MACHINE, build_recorded_event
from app.machine.sampling.engine_outages_from_log import NOTICED_AFTER
from app.machine.sampling.sample_board import Board
from app.web.pages.engine_meters_and_gpu_cards import read_meter, render_meter
from app.web.pages.hosts_sharing_each_engine import EngineShare, ServedHost
from tests.runs.doors import house
from tests.served import served
from tests.web.pages.mission_log import EVENTS

NOW = 200.0
SAMPLE = EngineSampled(engine="e", running=1, waiting=0, kv_used=0.05, tok_s=44.0, prompt_tok_s=None, simulated=True)


def test_a_replayed_moment_has_its_own_figures(tmp_path):
    with served(tmp_path / "data", "--speed", "3") as server, httpx.Client(base_url=server.url) as http:
        run = http.post("/api/v1/runs", json={"host": "fixture", "rules": ["V-257820"]}).json()["id"]
        server.wait_for_kind("item.passed")
        until = time.monotonic() + 30
        while "No GPU was read at that time" in (then := http.get(f"/machine?run={run}&at=99999").text):
            assert time.monotonic() < until
        assert "at the moment of the replay" in then
        assert "at the moment of the replay" not in http.get("/machine").text
        assert len(re.findall(r'hx-target="#(gpus|meter-)', then)) == 4
        assert "No GPU" not in then
        first = http.get(f"/machine?run={run}&at=1").text
        assert first != then


async def test_the_event_that_is_asked_for_comes_before_a_time_as_on_the_page_of_a_run(tmp_path):
    async with house(tmp_path) as made:
        for at, event in ((1000.0, EVENTS[0]), (2000.0, EVENTS[1])):
            made.append("r1", event, at=at)
        state = EngineState(engine="gemma-31b", state="loading", detail="")
        made.store.append([build_recorded_event(MACHINE, 1, 1500.0, state, "")])
        first, second, both = [
            (await made.http.get(f"/machine?run=r1&{asked}")).text for asked in ("t=0", "at=2", "at=2&t=0")
        ]
        assert first != second == both


SERVED = EngineShare((ServedHost("worker", "web"),), decoding=True)


def drawn(state, *, age=0.4, share=SERVED):
    board = Board(states={"e": (100.0, EngineState(engine="e", state=state))}, engines={"e": (NOW - age, SAMPLE)})
    return render_meter(read_meter(board, "e", NOW, {"e": share}))


def figures(html):
    return re.findall(r">(\S+?)(?: %)?<small>", html)


@pytest.mark.parametrize("state", ["dead", "stalled", "absent"])
def test_an_engine_that_is_silent_says_so_since_when_and_shows_no_figure(state):
    shown = drawn(state)
    assert "✗ not answering" in shown
    assert f'data-down="{100.0 - NOTICED_AFTER if state == "stalled" else 100.0}"' in shown
    assert set(figures(shown)) == {"—"}


def test_an_engine_that_was_not_read_for_long_shows_no_figure_and_how_long():
    shown = drawn("ready", age=31.0)
    assert "not read for 31 s" in shown
    assert "not answering" not in shown
    assert set(figures(shown)) == {"—"}


def test_an_engine_that_serves_shows_its_figures_and_one_that_is_idle_none_of_the_turn_before():
    assert figures(drawn("ready")) == ["44.0", "—", "1", "0", "5"]
    assert set(figures(drawn("ready", share=EngineShare()))) == {"—"}


def test_a_replayed_moment_names_no_age():
    shown = render_meter(read_meter(Board(engines={"e": (NOW, SAMPLE)}), "e", NOW, {}), past=True)
    assert "at the moment of the replay" in shown
    assert "s old" not in shown
