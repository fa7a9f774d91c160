"""GPUs in full, and what a run took of them, over a real server."""

from tests.web.api.conftest import problem

FIGURE = {"value", "unit", "provenance", "source", "at"}


def test_a_gpu_tells_every_sensor_and_its_memory_adds_up(api):
    gpu = api.until("/api/v1/gpus", lambda said: said["gpus"] and said["gpus"][0]["waterfall"])["gpus"][0]
    for name in ("memory_reserved", "power_limit", "energy", "sm_clock", "memory_clock", "pcie_received", "pcie_sent"):
        assert set(gpu[name]) == FIGURE
    assert (gpu["power_limit"]["value"], gpu["power_limit"]["unit"]) == (72.0, "W")
    assert (gpu["sm_clock"]["value"], gpu["sm_clock"]["provenance"]) == (None, "unsupported")
    parts = {part["kind"]: part["memory"]["value"] for part in gpu["waterfall"]}
    assert abs(sum(parts.values()) - gpu["memory_total"]["value"]) < 0.01
    assert (parts["weights"], parts["kv"]) == (16.3, 2.39)
    assert {part["memory"]["provenance"] for part in gpu["waterfall"]} == {"simulated"}
    assert len(gpu["history"]["sm_clock"]["points"]) == len(gpu["history"]["power"]["points"])


def test_what_a_run_took_is_told_per_role_and_kept(api, finished):
    found = api.until(f"/api/v1/runs/{finished}/energy", lambda said: said["final"] and said["roles"])
    assert (found["run"], found["simulated"], found["reason"]) == (finished, True, "")
    roles = {one["role"]: one for one in found["roles"]}
    assert list(roles) == ["architect", "worker", "auditor", "sentry"]
    tokens = sum(one["tokens"] for one in roles.values())
    assert tokens == api.get(f"/api/v1/runs/{finished}").json()["tokens"]
    assert set(roles["architect"]["energy"]) == FIGURE
    assert roles["architect"]["gpu_seconds"]["provenance"] == "simulated"
    assert found["between"]["gpu_seconds"]["value"] > 0
    assert "kJ" in api.get(f"/runs/{finished}/energy").text
    assert "GPUs, by role" in api.get(f"/compare?left={finished}&right={finished}").text


def test_a_run_that_is_not_there_took_nothing(api):
    problem(api.get("/api/v1/runs/none/energy"), 404, "not-found", "run")
    assert api.get("/runs/none/energy").status_code == 404
