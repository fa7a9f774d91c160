"""Runs on a database of their own: what they took, written down before the samples go."""

from contextlib import contextmanager
from dataclasses import replace

import pytest

from app.events.event_field_types import Budget
from app.events.kinds import (
    EnergySpent,
    RunFinished,
    RunQueued,
    RunStarted,
    TurnDelta,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
)
from app.events.record import GENESIS, MACHINE, build_recorded_event
from app.lineups.reader import read_lineup, require_lineup_path
from app.machine.sampling.run_energy import BOOK_EVERY, REACH, EnergyLedger
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from tests.machine.samples import gpu_sample

LINEUP = read_lineup(require_lineup_path("simulated"))
START = 1_700_000_000.0
QUEUED = RunQueued(
    host="fixture", skill="stig", rules=(), mode="auto", budget=Budget(), lineup="simulated", simulated=True, pace=3.0
)
STARTED = RunStarted(worker="w", confinement="", scanner="", probes=())
FINISHED = RunFinished(passed=0, escalated=0, skipped=0, deferred=0, regressions=(), tree="")


def asked(role, engine, replica=0):
    return TurnStarted(
        turn="t", rule="r", attempt=1, role=role, purpose="plan", engine=engine, model="m", replica=replica,
        max_tokens=9, prompt=("", ""),
    )  # fmt: skip


def answered(role, tokens):
    return TurnFinished(
        turn="t", role=role, purpose="plan", outcome="answered", detail="", thought="", answer="",
        completion_tokens=tokens,
    )  # fmt: skip


def card(number, watts):
    return gpu_sample(number, power_w=watts, simulated=True)


@contextmanager
def stored(folder):
    database = open_and_migrate_database(folder / "temper.sqlite")
    yield EventStore(database)
    database.dispose()


def log(store, run, *steps):
    """`steps`: (seconds after the start, event)."""
    store.append(
        [build_recorded_event(run, seq, START + at, event, GENESIS) for seq, (at, event) in enumerate(steps, 1)]
    )


def power(store, since, until, first=1):
    """Each GPU at 10 W times its number and 10."""
    samples = [(START + at, card(number, 10.0 + 10 * number)) for at in range(since, until) for number in range(4)]
    store.append([build_recorded_event(MACHINE, first + n, at, event, "") for n, (at, event) in enumerate(samples)])
    return first + len(samples)


def by_role(found):
    return {one.role: (one.gpu_seconds, one.joules, one.tokens) for one in found.spent}


TURNS = (
    (10, asked("architect", "gemma-31b")), (30, answered("architect", 100)),
    (40, asked("sentry", "gemma-e2b")), (45, answered("sentry", 7)),
)  # fmt: skip


def test_what_a_finished_run_took_stays_when_its_samples_are_gone(tmp_path):
    with stored(tmp_path) as store:
        log(store, "a", (0, QUEUED), (0, STARTED), *TURNS, (60, FINISHED))
        last = power(store, -20, 90)
        ledger = EnergyLedger(store, LINEUP)
        assert ledger.compute_and_book_due_records(START + 61) == []
        (booked,) = ledger.compute_and_book_due_records(START + 63)
        assert (booked.of, booked.final, booked.simulated, booked.until) == ("a", True, True, START + 60)
        assert by_role(booked) == {
            "architect": (40.0, 20 * 10.0 + 20 * 20.0, 100),
            "sentry": (5.0, 5 * 40.0, 7),
            "": (195.0, 60 * 100.0 - 600.0 - 200.0, 0),
        }
        store.append([build_recorded_event(MACHINE, last, START + 63, booked, "")])
        assert ledger.compute_and_book_due_records(START + 70) == []
        power(store, 70, 90, first=last + 1)
        store.delete_old_samples_not_kept_for_good(START + 10_000)
        assert store.read_samples(START - 100, START + 60, ("gpu.sample",)) == []
        assert EnergyLedger(store, LINEUP).compute_and_book_due_records(START + 80) == []
        assert EnergyLedger(store, LINEUP).compute_run_energy("a", START + 20_000) == booked
        assert ledger.compute_and_book_due_records(START + 20_000 + REACH) == []
        assert ledger._books == {}, "it would grow with each run"
        assert ledger.compute_run_energy("a", START + 20_000) == booked


def test_a_long_run_is_written_down_in_stretches_that_add_up(tmp_path):
    with stored(tmp_path) as store:
        span = int(BOOK_EVERY) + 10
        log(store, "a", (0, QUEUED), (0, STARTED), (BOOK_EVERY - 10, asked("worker", "gemma-e4b")))
        last = power(store, 0, span)
        ledger = EnergyLedger(store, LINEUP)
        assert ledger.compute_and_book_due_records(START + BOOK_EVERY - 1) == []
        (first,) = ledger.compute_and_book_due_records(START + BOOK_EVERY)
        assert (first.final, by_role(first)["worker"]) == (False, (10.0, 300.0, 0))
        store.append([build_recorded_event(MACHINE, last, START + BOOK_EVERY, first, "")])
        store.delete_old_samples_not_kept_for_good(START + BOOK_EVERY)
        store.append([build_recorded_event("a", 4, START + BOOK_EVERY + 5, answered("worker", 60), GENESIS)])
        again = EnergyLedger(store, LINEUP).compute_run_energy("a", START + BOOK_EVERY + 9)
        assert (again.until, by_role(again)["worker"]) == (START + BOOK_EVERY + 9, (15.0, 450.0, 60))


class Counting(EventStore):
    """How often what was read."""

    def __init__(self, engine):
        super().__init__(engine)
        self.read = []

    def read_samples(self, since, until, kinds=()):
        self.read += kinds
        return super().read_samples(since, until, kinds)

    def read_events(self, run, *args, **words):
        self.read.append(run)
        return super().read_events(run, *args, **words)


def test_runs_that_end_side_by_side_are_reckoned_from_one_reading_each_as_if_alone(tmp_path):
    with stored(tmp_path) as store:
        for number in range(4):
            later = [(at + 3 * number, event) for at, event in TURNS]
            log(store, f"r{number}", (number, QUEUED), (number, STARTED), *later, (60 + number, FINISHED))
        last = power(store, -20, 90)
        counting = Counting(store._engine)
        found = EnergyLedger(counting, LINEUP).compute_and_book_due_records(START + 70)
        assert found == [EnergyLedger(store, LINEUP).compute_run_energy(f"r{number}") for number in range(4)]
        assert sorted(counting.read) == ["energy.sample", "gpu.sample", "r0", "r1", "r2", "r3"]
        store.append([build_recorded_event(MACHINE, last + n, START + 70, one, "") for n, one in enumerate(found)])
        counting.read.clear()
        assert EnergyLedger(counting, LINEUP).compute_and_book_due_records(START + 75) == [], (
            "who leads from here on knows them all"
        )
        assert counting.read == ["energy.sample"]


def test_a_turn_that_a_crash_cut_off_ended_with_its_last_token(tmp_path):
    with stored(tmp_path) as store:
        token = TurnDelta(turn="t", role="worker", channel="answer", text="x", tokens=1)
        log(
            store, "a", (0, QUEUED), (0, STARTED), (10, asked("worker", "gemma-31b")), (14, token),
            (50, TurnInterrupted(turn="t", reason="crash")), (60, FINISHED),
        )  # fmt: skip
        power(store, 0, 70)
        assert by_role(EnergyLedger(store, LINEUP).compute_run_energy("a"))["worker"] == (8.0, 120.0, 0)


def test_runs_that_are_on_at_once_share_what_they_both_hold(tmp_path):
    with stored(tmp_path) as store:
        for run in ("a", "b"):
            log(store, run, (0, QUEUED), (0, STARTED), *TURNS[:2], (60, FINISHED))
        power(store, 0, 70)
        assert by_role(EnergyLedger(store, LINEUP).compute_run_energy("a"))["architect"] == (20.0, 300.0, 100)


@pytest.mark.parametrize("engine", ["gemma-31b", "gone"])
def test_a_replica_or_an_engine_that_the_line_up_does_not_have(tmp_path, engine):
    with stored(tmp_path) as store:
        log(store, "a", (0, QUEUED), (0, STARTED), (10, asked("worker", engine, replica=5)), (60, FINISHED))
        found = by_role(EnergyLedger(store, LINEUP).compute_run_energy("a"))
        assert found.get("worker", (0,))[0] == (100.0 if engine == "gemma-31b" else 0)


def test_a_run_of_another_line_up_or_one_that_has_not_started_is_not_known(tmp_path):
    with stored(tmp_path) as store:
        log(store, "a", (0, QUEUED), (0, STARTED), (60, FINISHED))
        log(store, "b", (0, QUEUED))
        other = replace(LINEUP, name="l4x4-nvfp4")
        assert EnergyLedger(store, other).compute_run_energy("a") is None
        assert EnergyLedger(store, other).compute_and_book_due_records(START + 100) == []
        assert EnergyLedger(store, LINEUP).compute_run_energy("b") is None
        assert EnergyLedger(store, LINEUP).compute_run_energy("c") is None
        assert (
            EnergyLedger(store, LINEUP).find_simulation_pace("b"),
            EnergyLedger(store, LINEUP).find_simulation_pace("c"),
        ) == (3.0, None)


def test_an_event_of_energy_reads_back_as_it_was_written(tmp_path):
    with stored(tmp_path) as store:
        event = EnergySpent(of="a", until=START, final=True, simulated=False, spent=())
        store.append([build_recorded_event(MACHINE, 1, START, event, "")])
        assert [one.event for one in store.read_samples(0, START, ("energy.sample",))] == [event]
        assert store.read_samples(0, START, ("gpu.sample",)) == []
