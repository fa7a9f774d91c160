"""Looks at scripted engines, as they land in the log."""

import asyncio
import time
from contextlib import asynccontextmanager

import httpx
import pytest

from app.events.bus import Bus
from app.events.event_field_types import Budget
from app.events.kinds import EngineSampled, EngineState, GpuSampled, RunFinished, RunQueued, RunStarted
from app.events.log_writer import LogWriter
from app.events.record import GENESIS, MACHINE, build_recorded_event
from app.lineups.reader import read_lineup, require_lineup_path
from app.machine.gpus.simulator_gpu_client import SimulatedGpus
from app.machine.sampling.engine_watch import EngineWatch
from app.machine.sampling.machine_event_log_writer import FULL_SECONDS, MachineLog
from app.machine.sampling.sample_board import Board
from app.machine.sampling.sample_thinning_by_age import RAW_SECONDS
from app.machine.sampling.sampler import LOOKING, Sampler
from app.store.db import open_and_migrate_database
from app.store.events import EventStore

LINEUP = read_lineup(require_lineup_path("simulated"))
ENGINE = LINEUP.engines["gemma-31b"]
RUN = (
    RunQueued(host="h", skill="stig", rules=(), mode="auto", budget=Budget(), lineup=LINEUP.name, simulated=True),
    RunStarted(worker="w", confinement="", scanner="", probes=()),
    RunFinished(passed=0, escalated=0, skipped=0, deferred=0, regressions=(), tree=""),
)
CARD = {"memory_used_gib": 1, "memory_total_gib": 23, "utilization": 0, "power_w": 28, "temperature_c": 44}


class Wire:
    """An engine's endpoints; `health` None refuses the connection."""

    def __init__(self):
        self.health, self.generated, self.log = 200, 100, ""
        self.metrics, self.first_tokens, self.first_seconds = 200, 1, 0.5

    def __call__(self, request):
        match request.url.path:
            case "/health" if self.health:
                return httpx.Response(self.health)
            case "/metrics" if self.health:
                text = f'vllm:num_requests_running{{a="b"}} 1\nvllm:generation_tokens_total{{a="b"}} {self.generated}\n'
                waits = "vllm:time_to_first_token_seconds"
                text += f"{waits}_count {self.first_tokens}\n{waits}_sum {self.first_seconds}\n"
                return httpx.Response(self.metrics, text=text + 'vllm:kv_cache_usage_perc{a="b"} 0.25\n')
            case "/v1/models" if self.health:
                return httpx.Response(200, json={"data": [{"id": ENGINE.wire_name, "max_model_len": 4096}]})
            case "/simulator/log":
                return httpx.Response(200, text=self.log)
            case "/simulator/gpus" if self.health:
                return httpx.Response(200, json={"gpus": [{"index": 0, **CARD}]})
        raise httpx.ConnectError("refused")


async def watch(*looks):
    wire, seen = Wire(), []
    async with httpx.AsyncClient(transport=httpx.MockTransport(wire)) as http:
        engine = EngineWatch(ENGINE, ("http://e/v1",), http)
        for now, look in enumerate(looks):
            look(wire)
            seen.append(await engine.poll_and_list_events(float(now)))
    return seen


async def test_state_is_told_when_it_changes_and_figures_each_time():
    def first(_):
        pass

    def grows(wire):
        wire.generated += 15

    def dies(wire):
        wire.health = None

    one, two, three, four = await watch(first, grows, dies, first)
    assert one[0] == EngineState(engine="gemma-31b", state="ready")
    assert one[1].tok_s is None
    assert two == [
        EngineSampled(
            engine="gemma-31b",
            running=1,
            waiting=0,
            kv_used=0.25,
            tok_s=15.0,
            prompt_tok_s=None,
            simulated=True,
            foreign=1,
        )
    ]
    assert [type(event) for event in three] == [EngineState]
    assert three[0].state == "dead"
    assert four == []


async def test_a_look_that_a_busy_engine_does_not_answer_costs_no_rate():
    """A real engine on a starved machine lets every other look at its metrics wait: tokens ran, and "—" stood there."""

    def first(_):
        pass

    def silent(wire):
        wire.metrics = 503

    def tells(wire):
        wire.metrics = 200
        wire.generated += 30

    _, nothing, (told,) = await watch(first, silent, tells)
    assert nothing == []
    assert told.tok_s == 15.0


async def test_the_wait_for_the_first_token_is_that_of_the_requests_since():
    def waited(wire):
        wire.first_tokens, wire.first_seconds = wire.first_tokens + 2, wire.first_seconds + 3.0

    def nobody(_):
        pass

    one, (two,), (three,) = await watch(nobody, waited, nobody)
    assert (one[1].ttft_s, two.ttft_s, three.ttft_s) == (None, 1.5, None)


async def test_the_phase_of_a_cold_load_is_the_logs_newest_line():
    def loads(wire):
        wire.health = 503
        wire.log = "x\n(EngineCore pid=1) INFO 11-20 22:00:00 [simulated] Model \x1b[31mloading took 16.3 GiB\n"

    ((event,),) = await watch(loads)
    assert (event.state, event.detail) == ("loading", "Model loading took 16.3 GiB")


@asynccontextmanager
async def sampling(tmp_path, wire):
    """A sampler of one engine, with what its requests asked for and the log that its samples land in."""
    database, asked = open_and_migrate_database(tmp_path / "temper.sqlite"), []
    store, bus = EventStore(database), Bus()
    writer = LogWriter(store, bus)
    writer.start()

    def answer(request):
        asked.append(request.url.path)
        return wire(request)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        board = Board(has_work=lambda: False)
        gpus = SimulatedGpus(http, LINEUP.gpus[:1], {"gemma-31b": ("http://e/v1",)})
        machine = MachineLog(writer, store.read_last_sample_seq)
        watches = [EngineWatch(ENGINE, ("http://e/v1",), http)]
        sampler = Sampler(watches, gpus, machine, board, store, LINEUP, lambda: False)
        yield sampler, board, asked
        await sampler.close()
    await writer.close()
    database.dispose()


async def test_between_samples_an_idle_engine_is_asked_for_its_health_alone_until_it_is_not_well(tmp_path):
    wire = Wire()
    async with sampling(tmp_path, wire) as (sampler, board, asked):
        await sampler.poll_once()
        polled, asked[:] = board.polled_at, []
        await sampler.poll_if_unhealthy_or_news()
        assert asked == ["/health"]
        assert board.polled_at > polled, "it was looked at"
        wire.health = None
        await sampler.poll_if_unhealthy_or_news()
        assert board.states["gemma-31b"][1].state == "dead"


async def test_after_a_look_that_failed_no_engine_is_waited_for_and_nothing_was_read(tmp_path):
    async def fail():
        raise RuntimeError("no GPU can be read")

    async with sampling(tmp_path, Wire()) as (sampler, board, _):
        await sampler.poll_once()
        polled, sampler._gpus.read = board.polled_at, fail
        with pytest.raises(RuntimeError, match="no GPU can be read"):
            await sampler.poll_once()
        assert (board.polling_since, board.polled_at) == (None, polled)


async def test_a_page_with_news_gets_a_sample_at_the_next_look(tmp_path):
    async with sampling(tmp_path, Wire()) as (sampler, board, asked):
        board.has_news = lambda: True
        await sampler.poll_if_unhealthy_or_news()
        assert "/metrics" in asked


async def test_samples_land_in_the_log_and_on_the_board_and_old_ones_go(tmp_path):
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    store, bus, wire = EventStore(database), Bus(), Wire()
    writer = LogWriter(store, bus)
    writer.start()
    old = MachineLog(writer, lambda: 0, clock=lambda: time.time() - RAW_SECONDS - 60)
    sampled = EngineSampled(
        engine="gone", running=0, waiting=0, kv_used=0, tok_s=None, prompt_tok_s=None, simulated=True
    )
    await old.record_and_write_if_leader(*[sampled] * 5)
    await writer.flush()
    async with httpx.AsyncClient(transport=httpx.MockTransport(wire)) as http:
        board = Board()
        gpus = SimulatedGpus(http, LINEUP.gpus[:1], {"gemma-31b": ("http://e/v1",)})
        watches = [EngineWatch(ENGINE, ("http://e/v1",), http)]
        sampler = Sampler(watches, gpus, MachineLog(writer, store.read_last_sample_seq), board, store, LINEUP)
        await sampler.poll_once()
        await writer.flush()
        await asyncio.wait_for(bus.wait_for_event_after(MACHINE, 7), 5)
    kept = store.read_samples_after(0)
    assert [(one.seq, type(one.event)) for one in kept[-3:]] == [
        (6, GpuSampled), (7, EngineState), (8, EngineSampled),
    ]  # fmt: skip
    assert board.states["gemma-31b"][1].state == "ready"
    assert board.gpus["", 0][1].simulated
    store.delete_old_samples_not_kept_for_good(time.time() + 60)
    assert [one.seq for one in store.read_samples_after(0)] == [7, 8], "states are kept for good"
    await sampler.close()
    await writer.close()
    database.dispose()


async def test_the_energy_of_a_run_is_recorded_once_a_stalled_log_takes_it(tmp_path):
    async with sampling(tmp_path, Wire()) as (sampler, _, _):
        store, writer, ended = sampler._store, sampler._machine._writer, time.time() - 5
        store.append([build_recorded_event("r", seq, ended, one, GENESIS) for seq, one in enumerate(RUN, 1)])
        for writer._writing_since, recorded in ((time.monotonic() - FULL_SECONDS, []), (None, ["r"])):
            sampler._booked = float("-inf")
            await sampler.poll_once()
            await writer.flush()
            samples = store.read_samples(ended, time.time() + 5, ("energy.sample",))
            assert [one.event.of for one in samples] == recorded


def build_sampler(state="ready", *, busy=False, work=False, shown=LOOKING + 1, engines=()):
    board = Board(states={"e": (0.0, EngineState(engine="e", state=state))}, has_work=lambda: work)
    board.shown_at = time.monotonic() - shown
    return Sampler(engines, None, None, board, None, LINEUP, lambda: busy)


@pytest.mark.parametrize(
    ("conditions", "matters"),
    [
        ({}, False),
        ({"work": True}, False),
        ({"shown": LOOKING - 5}, False),
        ({"shown": LOOKING - 5, "work": True}, True),
        ({"busy": True}, True),
        ({"state": "loading"}, True),
    ],
)
def test_only_work_that_somebody_watches_and_engines_in_use_or_in_trouble_are_sampled_every_second(conditions, matters):
    sampler = build_sampler(**conditions)
    assert sampler.needs_every_second is matters
    assert sampler.is_watched is ("shown" in conditions)


def test_requests_of_others_are_sampled_every_second_while_somebody_watches():
    sampler = build_sampler(shown=1)
    sampler._board.engines["e"] = (
        0.0, EngineSampled(engine="e", running=1, waiting=0, kv_used=0, tok_s=None, prompt_tok_s=None, simulated=True),
    )  # fmt: skip
    assert sampler.needs_every_second


def test_what_nobody_has_looked_at_yet_is_not_watched():
    assert not Sampler([], None, None, Board(), None, LINEUP, lambda: False).is_watched


def test_an_idle_engine_is_sampled_once_in_each_step_of_the_ten_seconds_grid_also_while_somebody_watches():
    sampler = build_sampler(shown=1)
    due = [at for at in range(1_790_000_003, 1_790_000_034) if sampler.is_poll_due_and_remember_time(at)]
    assert due == [1_790_000_003, 1_790_000_010, 1_790_000_020, 1_790_000_030]


def test_what_many_look_at_is_drawn_once_a_second(monkeypatch):
    board, drawn = Board(), []
    monkeypatch.setattr(time, "time", lambda: 1000.0 + len(drawn))
    assert board.draw_once_a_second(lambda: drawn.append(1) or "first") == "first"
    assert board.draw_once_a_second(lambda: drawn.append(1) or "second") == "second"
    monkeypatch.setattr(time, "time", lambda: 1001.9)
    assert board.draw_once_a_second(lambda: "never") == "second"
