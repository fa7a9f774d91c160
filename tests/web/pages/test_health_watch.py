"""What a page says is broken, and where it leads from there."""

import asyncio
from types import SimpleNamespace

import pytest

from app.events.kinds import EngineState
from app.loop.state import RunState, fold_events
from app.runtime.health import Conditions, find_faults
from app.web.pages.health_watch import HealthWatch, render_health
from app.web.pages.run_faults import FaultedRun
from app.web.stream.fold_cache import RunStateCache
from app.web.stream.viewer import Viewer
from tests.runs.doors import house
from tests.web.pages.mission_log import EVENTS, log

NOW = 1_000_000.0
WORKING = fold_events(log(EVENTS[:9]))
FROZEN = {"big": (NOW - 3, EngineState(engine="big", state="stalled", detail="<b>no token</b>"))}


@pytest.mark.parametrize(
    ("conditions", "words", "leads_to"),
    [
        (Conditions(NOW, engines=FROZEN, seated=("big",)), "&lt;b&gt;no token", 'href="/ops#log"'),
        (Conditions(NOW, unwritten=9.0), "Temper cannot write its log", 'href="/help/operations#failures"'),
        (Conditions(NOW, left_since=NOW - 7), "was killed or restarted", 'class="whole" href="#stop-run"'),
    ],
)
def test_a_fault_leads_to_where_a_person_can_act(conditions, words, leads_to):
    drawn = render_health(find_faults(conditions), FaultedRun(RunState(run="r1", status="running")))
    assert drawn.count("<article") == 1
    assert words in drawn
    assert leads_to in drawn
    assert 'action="/runs/r1/ask"' in drawn
    assert ">Pause run<" in drawn


def test_a_fault_says_since_when_if_the_host_is_safe_and_what_starts_the_engine():
    died = {"big": (NOW - 3, EngineState(engine="big", state="dead", detail="gone"))}
    drawn = render_health(find_faults(Conditions(NOW, engines=died, seated=("big",))), FaultedRun(WORKING, ["big"]))
    assert "✗ Engine big stopped answering" in drawn
    assert f'data-lasts data-at="{NOW - 3}"' in drawn
    assert "<h3>The host is safe</h3>" in drawn
    assert 'action="/ops/engines/big"><input type="hidden" name="run" value="r">' in drawn
    assert ">Start big<" in drawn
    elsewhere = render_health(find_faults(Conditions(NOW, engines=died, seated=("big",))), FaultedRun(WORKING))
    assert "/ops/engines" not in elsewhere, "Temper did not start it"


def test_a_fault_on_a_page_of_no_run_has_no_buttons():
    drawn = render_health(find_faults(Conditions(NOW, engines=FROZEN, seated=("big",))))
    assert "<form" not in drawn
    assert "host is safe" not in drawn


class Page:
    """What a page that watches a run was told last."""

    def __init__(self):
        self.health, self._told = "", asyncio.Event()

    async def take_message(self, message):
        self.health = message["body"].decode()
        self._told.set()

    async def wait_for(self, is_wanted):
        async with asyncio.timeout(30):
            while not is_wanted(self.health):
                self._told.clear()
                await self._told.wait()


async def test_a_run_that_no_process_holds_is_interrupted_until_one_takes_it_up(tmp_path):
    async with house(tmp_path) as made:
        made.append("r1", *EVENTS[:4])
        made.board.polled_at = float("inf")
        made.read_run_row = lambda run: SimpleNamespace(id=run, state="running")
        made.durable = SimpleNamespace(in_hand=["r1"])
        watch, page = HealthWatch(made, RunStateCache(made.store)), Page()
        watch.every = 0.01
        watch.start()
        serving = asyncio.create_task(watch.watch_run("r1").serve_viewer(Viewer(page.take_message)))
        await page.wait_for(lambda health: health and "data-badge" not in health)
        made.durable.in_hand.clear()
        await page.wait_for(lambda health: "INTERRUPTED" in health)
        assert "The process that worked on this run was killed or restarted." in page.health
        assert "1970-01-01T00:16:40" in page.health, "since its newest event"
        made.durable.in_hand.append("r1")
        await page.wait_for(lambda health: "event: looked" not in health and "INTERRUPTED" not in health)
        serving.cancel()
        await watch.close()


async def test_the_fleet_says_what_is_broken_and_nothing_of_a_single_run(tmp_path):
    async with house(tmp_path) as made:
        made.board.polled_at = float("inf")
        assert "data-badge" not in (await made.http.get("/fleet")).text
        made.writer.stalled_seconds = 9.0
        made.board.states["gemma-31b"] = (NOW, EngineState(engine="gemma-31b", state="dead", detail="gone"))
        page = (await made.http.get("/fleet")).text
        assert [one.split('"')[0] for one in page.split('data-badge="')[1:]] == ["LOG STALLED", "ENGINE DOWN"]
        assert "Engine gemma-31b is dead: gone" in page
