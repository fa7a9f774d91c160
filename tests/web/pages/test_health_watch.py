"""What a page says is broken, and where it leads from there."""

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from app.events.kinds import EngineState
from app.loop.state import RunState, fold_events
from app.runtime.free_disk_space_meter import DiskSpace
from app.runtime.health_faults import Conditions, find_faults
from app.runtime.stalled_run_detection import GRACE, HOST_STEP, RunProgress
from app.web.pages.fault_consequences import FaultedRun
from app.web.pages.health_watch import HealthWatch, render_health
from app.web.stream.fold_cache import RunStateCache
from app.web.stream.viewer_connection import Viewer
from tests.runs.doors import house
from tests.web.pages.mission_log import EVENTS, log

NOW = 1_000_000.0
HUNG = RunProgress("r1", "web", "running", NOW - 500, step="verdict")
WORKING = fold_events(log(EVENTS[:9]))
FROZEN = {"big": (NOW - 3, EngineState(engine="big", state="stalled", detail="<b>no token</b>"))}


@pytest.mark.parametrize(
    ("conditions", "words", "leads_to"),
    [
        (Conditions(NOW, engines=FROZEN, seated=("big",)), "&lt;b&gt;no token", 'href="/ops#log"'),
        (Conditions(NOW, unwritten=9.0), "Temper cannot write its log", 'href="/help/operations#failures"'),
        (Conditions(NOW, left_since=NOW - 7), "was killed or restarted", 'class="whole" href="#stop-run"'),
        (Conditions(NOW, runs=(HUNG,)), "Run r1 on web has logged nothing", 'class="whole" href="/runs/r1#stop-run"'),
        (Conditions(NOW, runs=(HUNG,) * 4), "4 runs log nothing", 'class="whole" href="/ops"'),
        (Conditions(NOW, disk=DiskSpace(1, 100, NOW)), "Only 0.0 GiB", 'href="/help/operations#failures"'),
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
        self.health, self.first, self._told = "", "", asyncio.Event()

    async def take_message(self, message):
        self.health = message["body"].decode()
        self.first = self.first or self.health
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
        made.durable = SimpleNamespace(taken_at={"r1": made.clock.now()})
        page = Page()
        async with watching(made, "r1", page):
            await page.wait_for(lambda health: health and "data-badge" not in health)
            taken = made.durable.taken_at.pop("r1")
            await page.wait_for(lambda health: "INTERRUPTED" in health)
            assert "The process that worked on this run was killed or restarted." in page.health
            assert "1970-01-01T00:16:40" in page.health, "since its newest event"
            made.durable.taken_at["r1"] = taken
            await page.wait_for(lambda health: "event: looked" not in health and "INTERRUPTED" not in health)


@asynccontextmanager
async def watching(made, run, page):
    """The page of a run, told what is broken as often as a test can wait for."""
    watch = HealthWatch(made, RunStateCache(made.store))
    watch.every = 0.01
    watch.start()
    serving = asyncio.create_task(watch.create_run_health(run).serve_viewer(Viewer(page.take_message)))
    try:
        yield
    finally:
        serving.cancel()
        await watch.close()


async def test_a_page_that_stays_open_says_when_its_run_makes_no_progress_and_every_door_agrees(tmp_path):
    async with house(tmp_path) as made:
        made.board.polled_at, made.durable = float("inf"), SimpleNamespace(taken_at={"r1": 0.0})
        made.writer.enqueue_batch = lambda _: None
        made.append("r1", *EVENTS[:7], at=made.clock.now() - HOST_STEP.seconds - GRACE + 1)
        page, words = Page(), "Run r1 on fixture has logged nothing for more than 120 s"
        async with watching(made, "r1", page):
            await page.wait_for(lambda health: health and "data-badge" not in health)
            await page.wait_for(lambda health: 'data-badge="NO PROGRESS"' in health)
        assert words in page.health
        for address in ("/runs/r1", "/ops", "/fleet", "/readyz"):
            assert words in (await made.http.get(address)).text, address
        assert 'temper_faults{kind="progress"} 1' in (await made.http.get("/metrics")).text


async def test_what_a_page_shows_at_first_is_not_taken_back_by_its_stream(tmp_path):
    async with house(tmp_path) as made:
        made.board.polled_at, made.durable = float("inf"), SimpleNamespace(taken_at={})
        made.append("r1", *EVENTS[:7], at=1000.0)
        page = Page()
        async with watching(made, "r1", page):
            await page.wait_for(lambda health: health)
            assert "INTERRUPTED" in page.first


async def test_a_reading_that_fails_is_logged_once_and_the_page_learns_it_works_again(tmp_path, caplog):
    async with house(tmp_path) as made:
        made.board.polled_at, made.durable = float("inf"), SimpleNamespace(taken_at={})
        watch, failing = HealthWatch(made, RunStateCache(made.store)), True
        read = watch._read_watched_runs

        def read_or_fail(runs):
            if failing:
                raise RuntimeError("no such column")
            return read(runs)

        watch._read_watched_runs = read_or_fail
        for _ in range(3):
            await watch._run_once()
            await asyncio.wait([watch._reading])
        assert [one.getMessage() for one in caplog.records] == ["what is broken cannot be read for open pages"]
        assert "no such column" in caplog.text
        failing = False
        for _ in range(2):
            await watch._run_once()
            await asyncio.wait([watch._reading])
        failing = True
        for _ in range(2):
            await watch._run_once()
            await asyncio.wait([watch._reading])
        await watch._run_once()
        assert len(caplog.records) == 2
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


async def test_a_pass_that_began_before_a_run_was_watched_takes_nothing_back(tmp_path):
    async with house(tmp_path) as made:
        made.board.polled_at, made.durable = float("inf"), SimpleNamespace(taken_at={})
        for run in ("r1", "r2"):
            made.append(run, *EVENTS[:7], at=1000.0)
        watch, pages = HealthWatch(made, RunStateCache(made.store)), (Page(), Page())
        served = []
        for run, page in zip(("r1", "r2"), pages, strict=True):
            served.append(asyncio.create_task(watch.serve_viewer(run, Viewer(page.take_message))))
            await page.wait_for(lambda health: "INTERRUPTED" in health)
            if run == "r1":
                await watch._run_once()  # begins to read, for this run alone
                await asyncio.wait([watch._reading])
        await watch._run_once()
        assert "INTERRUPTED" in watch._encode_health("r2").decode()
        assert "What Temper does" in watch._encode_health("r2").decode()
        assert ">Pause run<" in watch._encode_health("r2").decode(), "the state of the run is known, too"
        for task in served:
            task.cancel()
        await asyncio.wait(served)
        await asyncio.wait([watch._reading])
        watch._collect_reading_and_begin_next()
        assert not {"r1", "r2"} & watch._stored.keys(), "nothing is kept of runs that nobody watches"
        await watch.close()
