"""People, tokens, links and the record of what was done, as far as the demo operator comes."""

from tests.web.api.conftest import problem

PASSWORD = "a password of ann's"


def test_a_name_is_given_once(api):
    new = {"name": "ann", "right": "operator", "password": PASSWORD}
    assert api.post("/api/v1/people", json=new).status_code == 201
    problem(api.post("/api/v1/people", json=new), 409, "exists", "name")


def test_a_token_holds_no_more_than_its_owner_and_none_is_made_for_who_is_disabled(api):
    api.post("/api/v1/people", json={"name": "bob", "right": "viewer", "password": PASSWORD})
    problem(
        api.post("/api/v1/tokens", json={"label": "ci", "person": "bob", "right": "admin"}), 422, "invalid", "right"
    )
    assert api.post("/api/v1/tokens", json={"label": "ci", "person": "bob"}).status_code == 201
    assert api.delete("/api/v1/people/bob").status_code == 204
    problem(api.post("/api/v1/tokens", json={"label": "ci", "person": "bob"}), 409, "wrong-state", "person")


def test_a_label_is_one_line_and_whoever_orders_a_run_has_a_visible_name(api):
    api.post("/api/v1/people", json={"name": "eve", "right": "viewer", "password": PASSWORD})
    made = api.post("/api/v1/tokens", json={"label": "ci\n\tof  eve\u202e", "person": "eve"})
    labels = {one["id"]: one["label"] for one in api.get("/api/v1/tokens").json()["tokens"]}
    assert labels[made.json()["id"]] == "ci of eve"
    problem(api.post("/api/v1/runs", json={"rules": ["V-257985"], "by": "\n \u200b"}), 422, "invalid", "by")


def test_a_link_leads_to_a_run_that_there_is(api, finished):
    problem(api.post("/api/v1/links", json={"run": "../people"}), 404, "not-found", "run")
    problem(api.post("/api/v1/links", json={"run": finished}), 404, "not-found", "person")


def test_the_record_is_walked_back_to_its_first_line(api):
    for _ in range(4):
        api.post("/api/v1/engines/nope/stop")
    newest = api.get("/api/v1/audit?limit=1").json()["lines"][0]["seq"]
    seen, before = [], newest + 1
    while before and len(seen) < newest:
        page = api.get("/api/v1/audit", params={"limit": 3, "before": before}).json()
        seen += [line["seq"] for line in page["lines"]]
        before = page["next"]
    assert (seen, before) == ([*range(newest, 0, -1)], None)
