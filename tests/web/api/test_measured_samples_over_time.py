"""What was sampled, on one grid, with where it is from and what happened meanwhile."""

import time

import pytest

from app.web.api.measured_samples_over_time import _parse_time
from tests.web.api.conftest import problem

SHAPE = {"kind", "of", "host", "figure", "unit", "provenance", "source", "how", "values"}


def test_engines_gpus_and_roles_share_one_grid(api, finished):
    def several(said):
        return any(sum(value is not None for value in one["values"]) > 1 for one in said["series"])

    said = api.until("/api/v1/samples", several)
    assert {one["kind"] for one in said["series"]} == {"engine", "gpu", "role"}
    assert {len(one["values"]) for one in said["series"]} == {len(said["times"])}
    assert {frozenset(one) for one in said["series"]} == {frozenset(SHAPE)}
    assert {one["provenance"] for one in said["series"]} == {"simulated"}
    assert {one["unit"] for one in said["series"] if one["figure"] in ("weights", "used_gib")} == {"GiB"}
    assert said["times"] == sorted(said["times"])


def test_one_engine_and_one_gpu_can_be_asked_for(api):
    path = "/api/v1/samples?kind=engine,gpu&engine=gemma-e4b&gpu=3"
    said = api.until(path, lambda said: {one["kind"] for one in said["series"]} == {"engine", "gpu"})
    assert {one["of"] for one in said["series"]} == {"gemma-e4b", "3"}


def test_some_figures_can_be_asked_for_and_no_others_are_sent(api):
    path = "/api/v1/samples?kind=engine,gpu&figure=power_w,waiting"
    said = api.until(path, lambda said: {one["kind"] for one in said["series"]} == {"engine", "gpu"})
    assert {one["figure"] for one in said["series"]} == {"power_w", "waiting"}


def test_a_run_has_the_tokens_that_its_own_turns_wrote(api, finished):
    run = api.get(f"/api/v1/runs/{finished}").json()
    asked = {"kind": "run", "run": finished, "since": run["queued_at"], "until": run["ended_at"]}
    told = api.get("/api/v1/samples", params=asked).json()
    assert {(one["kind"], one["provenance"]) for one in told["series"]} == {("run", "simulated")}
    assert [one["of"] for one in told["series"]] == ["architect", "worker", "auditor", "sentry"]
    turns = api.get(f"/api/v1/runs/{finished}/events?kind=turn.finished&limit=500").json()["events"]
    written = sum(one["completion_tokens"] for one in turns)
    assert sum(sum(one["values"]) * told["step"] for one in told["series"]) == pytest.approx(written, rel=0.01)


def test_what_happened_in_a_run_stands_beside_it(api, finished):
    marks = api.get(f"/api/v1/samples?kind=mark&run={finished}&since=0&step=86400").json()
    assert marks["series"] == []
    kinds = [mark["kind"] for mark in marks["marks"] if mark["run"]]
    assert {mark["run"] for mark in marks["marks"]} <= {finished, ""}
    assert (kinds[0], kinds[-1]) == ("run", "run")
    assert {"passed", "undone"} <= set(kinds)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ("kind=moon", "kind"),
        ("kind=run", "run"),
        ("since=2&until=1", "since"),
        ("since=never", "since"),
        ("since=-5", "since"),
        ("since=nan", "since"),
        ("since=0&step=1", "step"),
        ("step=0", "step"),
    ],
)
def test_what_cannot_be_asked_is_said(api, asked, field):
    problem(api.get(f"/api/v1/samples?{asked}"), 422, "invalid", field)


def test_of_a_run_that_is_not_there(api):
    assert api.get("/api/v1/samples?run=none").status_code == 404


def test_a_time_without_a_zone_is_utc_wherever_the_server_is(monkeypatch):
    with monkeypatch.context() as here:
        here.setenv("TZ", "America/New_York")
        time.tzset()
        told = [_parse_time(f"2026-01-31T12:00:00{zone}", "since") for zone in ("", "Z", "+01:00")]
    time.tzset()
    assert told == [1769860800.0, 1769860800.0, 1769857200.0]
