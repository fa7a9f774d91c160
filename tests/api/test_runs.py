"""Starting runs and finding them again."""

import pytest

from tests.api.conftest import problem


def test_a_run_is_accepted_with_its_address(api, finished):
    run = api.get(f"/api/v1/runs/{finished}").json()
    assert (run["state"], run["passed"], run["rolled_back"], run["simulated"]) == ("finished", 2, 1, True)
    assert run["duration"]["value"] > 0
    assert set(run["duration"]) == {"value", "unit", "provenance", "source", "at"}


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


def test_the_list_is_filtered_by_state(api, finished):
    assert finished in [run["id"] for run in api.get("/api/v1/runs", params={"state": "finished"}).json()["runs"]]
    assert api.get("/api/v1/runs", params={"state": "failed"}).json()["runs"] == []


@pytest.mark.parametrize(
    ("query", "kind", "field"),
    [
        ("bogus=1", "unknown-parameter", "bogus"),
        ("cursor=abc", "bad-cursor", "cursor"),
        ("cursor=WzEsIngiLCJ5Il0", "bad-cursor", "cursor"),
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
    problem(api.get("/problems/nope"), 404, "not-found")
    said = api.request("BREW", f"/api/v1/runs/{finished}")
    problem(said, 405, "method-not-allowed")
    assert said.headers["allow"] == "GET"


def test_every_type_of_problem_has_a_page(api):
    text = api.get("/problems/unknown-rule")
    assert text.status_code == 200
    assert "GET /api/v1/rules" in text.text
