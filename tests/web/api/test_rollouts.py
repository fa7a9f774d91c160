"""Rollouts and groups over the API, on a real server: asked for, followed, handed over as evidence."""

import io
import json
import zipfile

import pytest

from app.evidence.verify import unpack_zip_packed_by_temper
from tests.web.api.conftest import problem

RULES = ["V-257820"]


@pytest.fixture(scope="module")
def rolled_out(api):
    """Three built-in hosts, the canary first, to its end."""
    told = {
        "hosts": "fixture-7,fixture-8,fixture-9",
        "rules": RULES,
        "at_once": 2,
        "waves": "1,rest",
        "note": "tonight",
    }
    answer = api.post("/api/v1/rollouts", json=told | {"by": "ci"}, headers={"idempotency-key": "tonight"})
    assert answer.status_code == 202, answer.text
    again = api.post("/api/v1/rollouts", json=told | {"by": "ci"}, headers={"idempotency-key": "tonight"})
    assert again.json() == answer.json(), "the same wish is one"
    problem(api.post("/api/v1/rollouts", json=told, headers={"idempotency-key": "tonight"}), 422, "key-reused")
    return api.until(answer.headers["location"], lambda said: said["ended_at"])


def test_each_host_has_its_run_and_the_canary_came_first(api, rolled_out):
    assert (rolled_out["state"], rolled_out["done"], rolled_out["waves"]) == ("finished", 3, [1, 2])
    assert {part["state"] for part in rolled_out["parts"]} == {"finished"}
    runs = [api.get(f"/api/v1/runs/{part['run']}").json() for part in rolled_out["parts"]]
    assert [run["host"] for run in runs] == ["fixture-7", "fixture-8", "fixture-9"]
    assert {run["note"] for run in runs} == {"tonight"}
    assert all(run["queued_at"] >= runs[0]["ended_at"] for run in runs[1:])
    assert rolled_out["id"] in [one["id"] for one in api.get("/api/v1/rollouts").json()["rollouts"]]


def test_its_stream_tells_all_and_ends(api, rolled_out):
    said = api.get(rolled_out["links"]["stream"]).text
    kinds = [line[7:] for line in said.splitlines() if line.startswith("event: ")]
    assert kinds[0] == "rollout.asked"
    assert kinds.count("rollout.host_begun") == kinds.count("rollout.host_ended") == 3
    assert kinds.count("rollout.wave_ended") == 2
    assert kinds[-2:] == ["rollout.ended", "end"]


def test_its_evidence_is_the_packs_of_its_runs_with_an_index_and_the_same_twice(api, rolled_out):
    answer = api.get(rolled_out["links"]["evidence"])
    assert answer.status_code == 200, answer.text
    assert api.get(rolled_out["links"]["evidence"]).content == answer.content
    files = {
        one: zipfile.ZipFile(io.BytesIO(answer.content)).read(one)
        for one in unpack_zip_packed_by_temper(answer.content)
    }
    index = json.loads(files["manifest.json"])
    assert [one["host"] for one in index["runs"]] == ["fixture-7", "fixture-8", "fixture-9"]
    for one in index["runs"]:
        pack = files[f"runs/{one['host']}-{one['run']}.zip"]
        assert pack == api.get(f"/api/v1/runs/{one['run']}/evidence.zip").content
        assert json.loads(unpack_zip_packed_by_temper(pack)["manifest.json"])["chain_head"] == one["chain_head"]
    assert len(files["rollout.jsonl"].splitlines()) == len(files["chain.txt"].splitlines()) == index["events"]


def test_its_evidence_that_was_cut_off_is_gone_on_with(api, rolled_out):
    place = rolled_out["links"]["evidence"]
    whole = api.get(place)
    tag, size = whole.headers["etag"], len(whole.content)
    for first, last in ((0, size // 2), (size // 2 + 1, size - 1), (size - 5, size - 1)):
        part = api.get(place, headers={"range": f"bytes={first}-{last}", "if-range": tag})
        assert part.status_code == 206
        assert part.headers["content-range"] == f"bytes {first}-{last}/{size}"
        assert part.content == whole.content[first : last + 1]
    assert api.get(place, headers={"range": f"bytes={size}-"}).status_code == 416
    assert api.get(place, headers={"if-none-match": tag}).status_code == 304


def test_its_page_and_the_fleets_show_it(api, rolled_out):
    page = api.get(rolled_out["links"]["page"], headers={"accept": "text/html"})
    assert page.status_code == 200
    for part in rolled_out["parts"]:
        assert part["run"] in page.text
    fleet = api.get("/fleet", headers={"accept": "text/html"}).text
    assert f"/fleet/{rolled_out['id']}" in fleet
    assert "fixture-8\t" in fleet
    cell = api.get("/fleet/cell", params={"host": "fixture-8", "rule": RULES[0], "skill": "stig"})
    assert cell.headers["location"] == f"/runs/{rolled_out['parts'][1]['run']}/items/{RULES[0]}"
    nothing = api.get("/fleet/cell", params={"host": "fixture-8", "rule": "V-1", "skill": "stig wide"})
    assert nothing.headers["location"] == "/fleet/hosts/fixture-8?skill=stig+wide"
    assert "fixture-8" in api.get(f"/fleet/rules/{RULES[0]}").text
    assert RULES[0] in api.get("/fleet/hosts/fixture-8").text


def test_what_is_over_takes_no_commands(api, rolled_out):
    for verb in ("pause", "resume", "stop"):
        problem(api.post(f"{rolled_out['links']['self']}/{verb}"), 409, "wrong-state")
    problem(api.post("/api/v1/rollouts/none/pause"), 404, "not-found", "rollout")
    problem(api.get("/api/v1/rollouts/none"), 404, "not-found", "rollout")
    problem(api.get("/api/v1/rollouts/none/evidence.zip"), 404, "not-found", "rollout")


@pytest.mark.parametrize(
    ("told", "field"),
    [
        ({"hosts": "web9"}, "hosts"),
        ({"hosts": "fixture", "waves": "soon"}, "waves"),
        ({"hosts": "fixture", "at_once": 0}, "at_once"),
        ({"hosts": "fixture", "escalated": 101}, "escalated"),
        ({"hosts": "fixture", "harmed": -1}, "harmed"),
        ({"hosts": "fixture", "host": "fixture"}, "host"),
        ({"hosts": "fixture", "consent": "I accept"}, "consent"),
        ({"hosts": "fixture", "rules": ["V-1"]}, "rules[0]"),
        ({"hosts": "fixture", "mode": "wipe"}, "mode"),
    ],
)
def test_what_cannot_be_rolled_out_is_refused_before_any_host_is_begun(api, told, field):
    before = len(api.get("/api/v1/rollouts").json()["rollouts"])
    answer = api.post("/api/v1/rollouts", json=told)
    assert answer.status_code == 422, answer.text
    assert field in [one["field"] for one in answer.json()["errors"]], answer.text
    assert len(api.get("/api/v1/rollouts").json()["rollouts"]) == before


def test_groups_are_kept_shown_and_forgotten(api):
    made = api.put("/api/v1/groups/front", json={"hosts": ["fixture-7", "fixture-8"]})
    assert made.json() == {"name": "front", "hosts": ["fixture-7", "fixture-8"]}
    assert made.json() in api.get("/api/v1/groups").json()["groups"]
    hosts = {one["name"]: one["groups"] for one in api.get("/api/v1/hosts").json()["hosts"]}
    assert hosts["fixture"] == []
    assert "front" in api.get("/hosts", headers={"accept": "text/html"}).text
    problem(api.put("/api/v1/groups/front", json={"hosts": ["web9"]}), 422, "unknown-host", "hosts")
    problem(api.put("/api/v1/groups/fixture", json={"hosts": ["fixture"]}), 409, "exists", "name")
    assert api.delete("/api/v1/groups/front").status_code == 204
    problem(api.delete("/api/v1/groups/front"), 404, "not-found", "name")
