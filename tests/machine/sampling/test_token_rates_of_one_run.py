"""The tokens of one run on a grid: its own alone, and all of them, however a turn ended."""

from msgspec.structs import replace

from app.events.kinds import TurnDelta, TurnInterrupted
from app.machine.sampling.series_on_time_grid import Grid
from app.machine.sampling.token_rates_of_one_run import compute_run_token_rates
from tests.machine.sampling.test_run_energy import QUEUED, START, STARTED, answered, asked, log, stored


def wrote(role, tokens, turn="t"):
    return TurnDelta(turn=turn, role=role, channel="answer", text="x", tokens=tokens)


def read_rates(store, run, seconds=10, step=1.0):
    rates = compute_run_token_rates(store, run, Grid(START, step, int(seconds / step)), simulated=True)
    assert {(key.kind, key.figure, key.simulated) for key in rates} == {("run", "tok_s", True)}
    return {key.of: values for key, values in rates.items() if any(values)}


def test_tokens_are_spread_over_the_time_in_which_they_were_written(tmp_path):
    turn = replace(answered("worker", 30), seconds=4.0, ttft=1.0)
    with stored(tmp_path) as store:
        log(store, "r1", (0, QUEUED), (0, STARTED), (1, asked("worker", "big")), (5, turn))
        assert read_rates(store, "r1") == {"worker": [0.0, 0.0, 10.0, 10.0, 10.0, 0.0, 0.0, 0.0, 0.0, 0.0]}
        assert read_rates(store, "r1", step=5.0) == {"worker": [6.0, 0.0]}


def test_another_run_on_the_same_engine_adds_nothing(tmp_path):
    turn = replace(answered("worker", 30), seconds=3.0)
    with stored(tmp_path) as store:
        for run in ("r1", "r2"):
            log(store, run, (0, QUEUED), (0, STARTED), (1, asked("worker", "big")), (4, turn))
        log(store, "r3", (0, QUEUED))
        assert sum(read_rates(store, "r1")["worker"]) == 30.0
        assert read_rates(store, "r3") == {}


def test_a_turn_that_broke_off_or_still_writes_counts_with_what_it_wrote(tmp_path):
    steps = (
        *((0, QUEUED), (0, STARTED), (1, asked("architect", "big")), (3, wrote("architect", 8))),
        (4, TurnInterrupted(turn="t", reason="killed")),
        *((5, replace(asked("sentry", "big"), turn="u")), (7, wrote("sentry", 6, "u"))),
    )
    with stored(tmp_path) as store:
        log(store, "r1", *steps)
        assert {role: sum(values) for role, values in read_rates(store, "r1").items()} == {
            "architect": 8.0,
            "sentry": 6.0,
        }
        log(store, "r2", *steps[:5])
        assert {role: sum(values) for role, values in read_rates(store, "r2").items()} == {"architect": 8.0}


def test_tokens_in_less_than_no_time_are_not_lost(tmp_path):
    with stored(tmp_path) as store:
        log(store, "r1", (0, QUEUED), (0, STARTED), (1, asked("worker", "big")), (2, answered("worker", 7)))
        assert sum(read_rates(store, "r1")["worker"]) == 7.0
