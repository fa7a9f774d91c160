"""Samples become figures on a grid: nothing is made up where nothing was sampled."""

from app.events.kinds import EngineSampled
from app.events.record import MACHINE, build_recorded_event
from app.machine.sampling.series_on_time_grid import OTHERS, Grid, SeriesKey, sum_figures_by_time
from tests.machine.samples import gpu_sample


def engine(at, **figures):
    shape = {"running": 0, "waiting": 0, "kv_used": None, "tok_s": None, "prompt_tok_s": None, "simulated": True}
    return build_recorded_event(MACHINE, 1, at, EngineSampled(engine="e", **shape | figures), "")


def on_grid(samples, since, step, steps):
    grid = Grid(since, step, steps)
    for at, found in sum_figures_by_time(samples):
        for key, value in found.items():
            grid.add(at, key, value)
    return grid.to_series()


TOK_S = SeriesKey("engine", "e", "", "tok_s", True)


def test_a_step_tells_the_mean_of_its_samples_and_the_most_of_its_queue():
    samples = [engine(10.0, tok_s=10.0, waiting=0), engine(11.0, tok_s=20.0, waiting=7), engine(12.0, tok_s=3.0)]
    series = on_grid(samples, 10.0, 2, 2)
    assert series[TOK_S] == [15.0, 3.0]
    assert series[SeriesKey("engine", "e", "", "waiting", True)] == [7.0, 0.0]


def test_a_gap_is_not_known_and_no_zero():
    series = on_grid([engine(10.0, tok_s=4.0), engine(13.0, tok_s=0.0)], 10.0, 1, 4)
    assert series[TOK_S] == [4.0, None, None, 0.0]


def test_roles_are_summed_over_engines_at_one_moment_and_the_rest_is_others_only_where_there_are_others():
    samples = [engine(1.0, tok_s=10.0, roles={"worker": 9.0}), engine(1.0, tok_s=8.0, roles={"worker": 2.0}, foreign=1)]
    series = on_grid(samples, 1.0, 1, 1)
    told = {key.of: values for key, values in series.items() if key.kind == "role"}
    assert told == {"architect": [0.0], "worker": [11.0], "auditor": [0.0], "sentry": [0.0], OTHERS: [6.0]}


def test_a_gpu_is_known_by_its_host_too_and_its_memory_by_part():
    def card(host, power):
        event = gpu_sample(power_w=power, host=host, parts={"weights": 8.0, "free": 15.0})
        return build_recorded_event(MACHINE, 1, 5.0, event, "")

    series = on_grid([card("", 60.0), card("far", 70.0)], 5.0, 1, 1)
    assert series[SeriesKey("gpu", "0", "", "power_w", False)] == [60.0]
    assert series[SeriesKey("gpu", "0", "far", "power_w", False)] == [70.0]
    assert series[SeriesKey("gpu", "0", "", "weights", False)] == [8.0]
    assert not [key for key in series if key.figure == "utilization"]
