"""Starting runs and finding them again."""

import pytest

from tests.web.api.conftest import problem


def test_a_run_is_accepted_with_its_address(api, finished):
    run = api.get(f"/api/v1/runs/{finished}").json()
    assert (run["state"], run["passed"], run["rolled_back"], run["simulated"]) == ("finished", 2, 1, True)
    assert run["duration"]["value"] > 0
    assert set(run["duration"]) == {"value", "unit", "provenance", "source", "at"}
    assert {name: api.get(path).status_code for name, path in run["links"].items()} == dict.fromkeys(run["links"], 200)


def test_the_same_key_and_body_is_the_same_run(api):
    order = {"host": "fixture", "rules": ["V-257820"], "note": "once"}
    key = {"Idempotency-Key": "a-key-of-mine"}
    answers = [api.post("/api/v1/runs", json=order, headers=key) for _ in range(3)]
    assert {answer.headers["location"] for answer in answers} == {answers[0].json()["links"]["self"]}
    other = api.post("/api/v1/runs", json={**order, "note": "twice"}, headers=key)
    problem(other, 422, "key-reused", "Idempotency-Key")
    assert api.post("/api/v1/runs", json=order).json()["id"] != answers[0].json()["id"]
    api.ended(answers[0].json()["id"])


@pytest.mark.parametrize(
    ("order", "kind", "field"),
    [
        ({}, "invalid", "host"),
        ({"host": "moon"}, "unknown-host", "host"),
        ({"host": "fixture", "skill": "cis"}, "unknown-skill", "skill"),
        ({"host": "fixture", "rules": ["V-257820", "V-2579855"]}, "unknown-rule", "rules[1]"),
        ({"host": "fixture", "rules": []}, "invalid", "rules"),
        ({"host": "fixture", "rules": "V-257820"}, "invalid", "rules"),
        ({"host": "fixture", "rules": ["V-257820"], "profile": "cat-1"}, "invalid", "profile"),
        ({"host": "fixture", "mode": "yolo"}, "invalid", "mode"),
        ({"host": "fixture", "budget": {"attempts": 0}}, "invalid", "budget.attempts"),
        ({"host": "fixture", "budget": {"atempts": 2}}, "invalid", "budget.atempts"),
        ({"host": "fixture", "note": "x" * 501}, "invalid", "note"),
        ({"host": "fixture", "dry": True}, "invalid", "dry"),
    ],
)
def test_an_order_that_cannot_be_is_told_where(api, order, kind, field):
    problem(api.post("/api/v1/runs", json=order), 422, kind, field)


def test_an_unknown_rule_is_told_the_nearest(api):
    said = problem(api.post("/api/v1/runs", json={"host": "fixture", "rules": ["V-2579855"]}), 422, "unknown-rule")
    assert "V-257985" in said["detail"]


def test_hostile_text_is_cleaned_before_it_reaches_the_log(api):
    run = api.start(rules=["V-257820"], note="a\x1b[31mred\u202e")
    assert api.ended(run)["note"] == "ared"


@pytest.mark.parametrize(
    ("content", "headers", "status", "kind"),
    [
        (b"{", {"content-type": "application/json"}, 422, "invalid"),
        (b"[" * 200_000, {"content-type": "application/json"}, 422, "invalid"),
        (b'{"host": NaN}', {"content-type": "application/json"}, 422, "invalid"),
        (b"\xff\xfe", {"content-type": "application/json"}, 422, "invalid"),
        (b'{"host": "fixture", "host": "moon"}', {"content-type": "application/json"}, 422, "invalid"),
        (b"{}", {"content-type": "application/json", "content-encoding": "gzip"}, 415, "wrong-content-type"),
        (b"host=fixture", {"content-type": "application/x-www-form-urlencoded"}, 415, "wrong-content-type"),
        (b"{}", {}, 415, "wrong-content-type"),
        (b" " * 1_100_000, {"content-type": "application/json"}, 413, "too-large"),
        (b"", {"content-type": "application/json"}, 422, "invalid"),
        (b'{"host":"fixture"}', {"content-type": "application/json", "Idempotency-Key": "a b"}, 422, "invalid"),
    ],
)
def test_a_body_that_is_none_gets_a_problem(api, content, headers, status, kind):
    problem(api.post("/api/v1/runs", content=content, headers=headers), status, kind)


def test_the_list_is_walked_both_ways(api, finished):
    api.ended(api.start(rules=["V-257820"]))
    api.ended(api.start(rules=["V-257820"]))
    whole = [run["id"] for run in api.get("/api/v1/runs").json()["runs"]]
    seen, cursor, back = [], "", ""
    while cursor is not None:
        page = api.get("/api/v1/runs", params={"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
        seen += [run["id"] for run in page["runs"]]
        cursor, back = page["cursors"]["next"], page["cursors"]["previous"]
    assert seen == whole
    assert finished in seen
    before = api.get("/api/v1/runs", params={"limit": 2, "cursor": back}).json()
    last_page = len(page["runs"])
    assert [run["id"] for run in before["runs"]] == whole[:-last_page][-2:]


@pytest.mark.parametrize(
    ("those", "others"), [({"state": "finished"}, {"state": "failed"}), ({"host": "fixture"}, {"host": "fixture-2"})]
)
def test_the_list_is_filtered(api, finished, those, others):
    assert finished in [run["id"] for run in api.get("/api/v1/runs", params=those).json()["runs"]]
    assert finished not in [run["id"] for run in api.get("/api/v1/runs", params=others).json()["runs"]]


@pytest.mark.parametrize(
    ("query", "kind", "field"),
    [
        ("bogus=1", "unknown-parameter", "bogus"),
        ("cursor=abc", "bad-cursor", "cursor"),
        ("cursor=WzEsIngiLCJ5Il0", "bad-cursor", "cursor"),
        ("cursor=WzEsTmFOLCJhIl0", "bad-cursor", "cursor"),
        ("cursor=", "bad-cursor", "cursor"),
        ("limit=0", "invalid", "limit"),
        ("limit=1&limit=2", "invalid", "limit"),
        ("state=ended", "invalid", "state"),
    ],
)
def test_a_question_that_makes_no_sense_is_told_so(api, query, kind, field):
    problem(api.get(f"/api/v1/runs?{query}"), 422, kind, field)


def test_what_is_not_there_is_told_so(api, finished):
    problem(api.get("/api/v1/runs/nope"), 404, "not-found", "run")
    problem(api.get("/api/v1/nope"), 404, "not-found")
    assert "control characters" in problem(api.get("/api/v1/runs/a%00b"), 404, "not-found")["detail"]
    problem(api.get("/api/v1/lessons?rule=V-1%00"), 422, "invalid", "rule")
    problem(api.get("/problems/nope"), 404, "not-found")
    said = api.request("BREW", f"/api/v1/runs/{finished}")
    problem(said, 405, "method-not-allowed")
    assert said.headers["allow"] == "GET, HEAD, OPTIONS, PATCH"
    assert "Remove the slash" in problem(api.get("/api/v1/runs/"), 404, "not-found")["detail"]


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/runs", "/api/v1/runs/{run}", "/api/v1/runs/{run}/evidence.zip"])
def test_head_is_get_without_the_body(api, finished, path):
    path = path.format(run=finished)
    head, get = api.head(path), api.get(path)
    assert (head.status_code, head.headers["content-type"], head.content) == (200, get.headers["content-type"], b"")
    assert api.head(f"{path}/nope").status_code == 404


def test_head_of_a_stream_ends_while_the_run_goes_on(api):
    run = api.start(rules=["V-258227"], mode="review")
    head = api.head(f"/api/v1/runs/{run}/stream")
    assert (head.status_code, head.headers["content-type"].split(";")[0]) == (200, "text/event-stream")
    assert api.get(f"/api/v1/runs/{run}").json()["ended_at"] is None
    api.post(f"/api/v1/runs/{run}/stop")
    api.ended(run)
    assert "Traceback" not in api.server.output()
    assert "ASGI callable returned" not in api.server.output()


def test_an_address_says_which_methods_it_takes(api):
    asked = api.options("/api/v1/runs")
    assert (asked.status_code, asked.headers["allow"]) == (204, "GET, HEAD, OPTIONS, POST")
    problem(api.options("/api/v1/nope"), 404, "not-found")


def test_every_type_of_problem_has_a_page(api):
    text = api.get("/problems/unknown-rule")
    assert text.status_code == 200
    assert "GET /api/v1/rules" in text.text
