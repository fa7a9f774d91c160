"""Engines, GPUs, hosts, rules, lessons, health and metrics."""

import re

import pytest

from tests.served import served
from tests.web.api.conftest import Api, problem

FIGURE = {"value", "unit", "provenance", "source", "at"}


def test_the_lineup_names_who_sits_where(api):
    lineup = api.get("/api/v1/lineup").json()
    assert {seat["role"]: seat["engine"] for seat in lineup["seats"]}["architect"] == "gemma-31b"
    assert lineup["simulated"] is True
    assert lineup["gpus"][0]["bandwidth"]["value"] == 300


def test_an_engine_says_how_it_is_and_where_each_figure_is_from(api):
    engine = api.get("/api/v1/engines/gemma-31b").json()
    assert (engine["state"], engine["roles"], engine["simulated"]) == ("ready", ["architect", "worker"], True)
    for name in ("tokens_per_second", "kv_used", "limit", "loaded", "to_go"):
        assert set(engine[name]) == FIGURE
    assert (engine["kv_used"]["provenance"], engine["limit"]["provenance"]) == ("simulated", "derived")
    assert "300 GB/s" in engine["limit"]["source"]
    assert api.get("/api/v1/engines").json()["engines"][0]["name"] == "gemma-31b"
    problem(api.get("/api/v1/engines/nope"), 404, "not-found", "engine")


def test_gpus_have_a_history(api):
    found = api.until("/api/v1/gpus?seconds=60", lambda said: len(said["gpus"][0]["history"]["power"]["points"]) >= 2)
    gpu = found["gpus"][0]
    assert (gpu["engines"], gpu["memory_used"]["value"], gpu["memory_used"]["unit"]) == (["gemma-31b"], 21.9, "GiB")
    assert gpu["memory_used"]["provenance"] == "simulated"
    points = [point["at"] for point in gpu["history"]["power"]["points"]]
    assert points == sorted(set(points))
    assert found["reason"] == ""
    problem(api.get("/api/v1/gpus?seconds=0"), 422, "invalid", "seconds")


def test_a_host_is_scanned_without_a_run(api, finished):
    before = len(api.get("/api/v1/runs").json()["runs"])
    scan = api.post("/api/v1/hosts/fixture/scan").json()
    assert (len(scan["verdicts"]), scan["scanner"], scan["simulated"]) == (30, "built-in", True)
    assert len(api.get("/api/v1/runs").json()["runs"]) == before
    problem(api.post("/api/v1/hosts/moon/scan"), 404, "not-found", "host")
    problem(api.post("/api/v1/hosts/fixture/scan?skill=cis"), 422, "unknown-skill", "skill")


@pytest.mark.parametrize(
    ("order", "field"),
    [
        ({"name": "web1", "kind": "telnet"}, "kind"),
        ({"name": "web1", "kind": "fixture"}, "name"),
        ({"name": "web1", "kind": "ssh", "secret_at": "/root/key"}, "place"),
        ({"name": "web1", "kind": "ssh", "place": "root@127.0.0.1:1", "secret_at": "/root/key"}, "place"),
        (
            {"name": "web1", "kind": "ssh", "place": "root@web1", "way": "password", "secret_at": "/etc/shadow"},
            "secret_at",
        ),
        ({"name": "Web 1", "kind": "ssh", "place": "root@web1", "secret_at": "/root/key"}, "name"),
    ],
)
def test_a_host_of_another_kind_is_refused_clearly(api, order, field):
    problem(api.post("/api/v1/hosts", json=order), 422, "unsupported-host", field)


def test_the_fixture_is_always_there(api):
    made = api.post("/api/v1/hosts", json={"name": "fixture", "kind": "fixture"})
    assert made.status_code == 201
    assert api.get(made.headers["location"]).json() == made.json()
    problem(api.get("/api/v1/hosts/moon"), 404, "not-found", "host")
    assert [host["name"] for host in api.get("/api/v1/hosts").json()["hosts"]] == ["fixture"]


def test_rules_and_lessons(api, finished):
    rules = api.get("/api/v1/rules").json()["rules"]
    assert len(rules) == 30
    assert api.get("/api/v1/rules/V-258229").json()["irreversible"] is True
    assert "V-257985" in problem(api.get("/api/v1/rules/V-2579855"), 404, "not-found", "rule")["detail"]
    lessons = api.get("/api/v1/lessons?rule=V-257985").json()["lessons"]
    assert lessons
    assert {(lesson["rule"], lesson["simulated"]) for lesson in lessons} == {("V-257985", True)}


def test_lessons_are_walked_to_the_oldest(api, finished):
    api.ended(api.start(rules=["V-257985", "V-258074"]))
    whole = api.get("/api/v1/lessons").json()
    assert (len(whole["lessons"]) > 1, whole["next"]) == (True, None)
    seen, page = [], api.get("/api/v1/lessons?limit=1").json()
    for _ in whole["lessons"][1:]:
        seen += page["lessons"]
        page = api.get("/api/v1/lessons", params={"limit": 1, "cursor": page["next"]}).json()
    assert [one["id"] for one in seen + page["lessons"]] == [one["id"] for one in whole["lessons"]]
    assert page["next"] is None
    problem(api.get("/api/v1/lessons?cursor=abc"), 422, "bad-cursor", "cursor")


def test_health_and_readiness(api):
    assert api.get("/healthz").json() == {"status": "ok"}
    ready = api.get("/readyz").json()
    assert (ready["ready"], ready["reasons"], ready["engines"]["gemma-31b"]) == (True, [], "ready")


def test_metrics_are_prometheus_text_without_run_ids(api, finished):
    answer = api.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    sample = re.compile(r'^temper_[a-z_]+(\{([a-z]+="[^"\n]*",?)+\})? -?[0-9.e+-]+$')
    lines = answer.text.splitlines()
    assert [line for line in lines if not line.startswith("# ") and not sample.match(line)] == []
    assert 'temper_engine_state{engine="gemma-31b",state="ready",simulated="true"} 1.0' in lines
    machine = [line for line in lines if line.startswith(("temper_engine_", "temper_gpu_"))]
    assert [line for line in machine if 'simulated="true"' not in line] == []
    assert any(line.startswith("temper_gpu_memory_used_bytes{") for line in lines)
    assert finished not in answer.text
    assert "temper_approvals_waiting 0" in lines
    assert any(line.startswith('temper_role_tokens_total{role="worker"}') for line in lines)
    whole = [line for line in lines if line.startswith('temper_turn_seconds_bucket{role="worker",le="+Inf"}')]
    count = [line for line in lines if line.startswith('temper_turn_seconds_count{role="worker"}')]
    assert whole[0].split()[-1] == count[0].split()[-1] != "0.0"


def test_the_shared_engine_names_the_role_that_holds_it(tmp_path):
    with served(tmp_path / "data", "--speed", "2", command="demo") as server, Api(base_url=server.url) as api:
        for role in ("architect", "worker"):
            api.until("/api/v1/engines/gemma-31b", lambda engine, role=role: engine["serving"] == [role])
