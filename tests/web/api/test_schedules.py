"""Schedules over the API and the page."""

from tests.web.api.conftest import problem

ORDER = {"host": "fixture", "cron": "30 2 * * 1-5", "zone": "Europe/Berlin", "rules": ["V-257985"]}


def test_a_schedule_is_made_shown_paused_resumed_and_deleted(api):
    made = api.post("/api/v1/schedules", json=ORDER)
    assert made.status_code == 201
    row = made.json()
    assert (row["mode"], row["enabled"], row["run"], row["outcome"]) == ("scan", True, None, "")
    assert row["next_at"].endswith("Z")
    place = made.headers["location"]
    assert api.get(place).json() == row
    assert row in api.get("/api/v1/schedules").json()["schedules"]
    assert row["id"] in api.get("/hosts", headers={"accept": "text/html"}).text
    assert api.post(f"{place}/pause").json()["next_at"] is None
    assert api.post(f"{place}/resume").json()["next_at"] == row["next_at"]
    assert api.delete(place).status_code == 204
    assert api.get(place).status_code == 404


def test_what_is_wrong_is_a_sentence_with_a_way_out(api):
    for change, kind, field, sentence in (
        ({"cron": "nightly"}, "invalid", "cron", "half past two, Monday to Friday"),
        ({"zone": "Berlin/Europe"}, "invalid", "zone", "There is no time zone 'Berlin/Europe'"),
        ({"mode": "auto"}, "invalid", "window_minutes", "give a window"),
        ({"host": "nowhere"}, "unknown-host", "host", "There is no host 'nowhere'"),
        ({"skill": "cis"}, "unknown-skill", "skill", "There is no skill 'cis'"),
        ({"skill": "drift", "rules": None, "mode": "auto"}, "invalid", "mode", "runs only in mode"),
        ({"rules": ["V-257985", "V-2579855"]}, "unknown-rule", "rules[1]", "the nearest are V-257985"),
        ({"rules": ["V-1"]}, "unknown-rule", "rules[0]", "it has rules such as V-"),
    ):
        said = problem(api.post("/api/v1/schedules", json=ORDER | change), 422, kind, field)
        assert sentence in said["detail"]


def test_the_same_sent_again_is_no_second_schedule(api):
    made = api.post("/api/v1/schedules", json=ORDER).json()
    assert made["id"] in problem(api.post("/api/v1/schedules", json=ORDER), 409, "exists")["detail"]
    other = api.post("/api/v1/schedules", json=ORDER | {"rules": None}).json()
    assert (made["rules"], other["rules"]) == (["V-257985"], [])
    for one in (made, other):
        assert api.delete(f"/api/v1/schedules/{one['id']}").status_code == 204


def test_the_form_says_it_too_and_makes_the_same(api):
    form = {"host": "fixture", "cron": "0 3 * * *", "zone": "UTC", "mode": "scan", "window": "soon"}
    refused = api.post("/schedules", data=form, headers={"accept": "text/html"})
    assert refused.status_code == 422
    assert "not a number of minutes" in refused.text
    api.post("/schedules", data=form | {"window": ""})
    (row,) = api.get("/api/v1/schedules").json()["schedules"]
    assert (row["cron"], row["by"]) == ("0 3 * * *", "the page")
    api.post(f"/schedules/{row['id']}", data={"verb": "remove"})
    assert api.get("/api/v1/schedules").json()["schedules"] == []
