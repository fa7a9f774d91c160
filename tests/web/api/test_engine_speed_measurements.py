"""Probes over the API."""

from tests.served import served
from tests.web.api.conftest import Api, problem


def test_a_probe_is_started_followed_and_read(api):
    started = api.post("/api/v1/probes", json={"engine": "gemma-e2b"})
    assert started.status_code == 202
    assert started.json()["under_way"]
    found = api.until("/api/v1/probes?engine=gemma-e2b", lambda said: not said["under_way"])
    (probe,) = found["probes"]
    assert (probe["lineup"], probe["simulated"], probe["problem"]) == ("simulated", True, "")
    memory = probe["figures"]["vram_gib_per_gpu"]
    assert (memory["value"], memory["unit"], memory["provenance"]) == (20.6, "GiB", "simulated")
    assert probe["figures"]["1x512.tok_s"]["value"] is None  # the simulator keeps no time at pace 0
    assert api.get("/api/v1/probes?lineup=other").json()["probes"] == []


def test_the_plan_of_the_line_up_at_work_and_of_a_shipped_one(api):
    plan = api.get("/api/v1/lineup/plan").json()
    engine = plan["engines"][0]
    assert (plan["lineup"], engine["name"], engine["gpus"]) == ("simulated", "gemma-31b", [0, 1])
    limit = engine["figures"]["limit_tok_s"]
    assert (round(limit["value"]), limit["unit"], limit["provenance"]) == (19, "token/s", "derived")
    assert "300 GB/s" in limit["source"]
    assert api.get("/api/v1/lineup/plan?lineup=simulated").json() == plan
    assert "simulated" in problem(api.get("/api/v1/lineup/plan?lineup=nope"), 404, "not-found", "lineup")["detail"]


def test_an_engine_that_is_not_there_is_a_problem(api):
    said = problem(api.post("/api/v1/probes", json={"engine": "nope"}), 404, "not-found", "engine")
    assert "gemma-e2b" in said["detail"]


def test_a_run_at_work_comes_first_until_it_is_paused(tmp_path):
    with served(tmp_path / "data", "--speed", "3", command="demo") as server, Api(base_url=server.url) as api:
        server.wait_for_kind("turn.started")
        (run,) = server.runs()
        assert run in problem(api.post("/api/v1/probes", json={}), 409, "busy")["detail"]
        api.post(f"/api/v1/runs/{run}/pause", json={})
        api.until(f"/api/v1/runs/{run}", lambda seen: seen["state"] == "paused")
        assert api.post("/api/v1/probes", json={}).status_code == 202
