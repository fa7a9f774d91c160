"""The plan before a run: what the page and the API say of it, and that neither changes anything."""

import re

import httpx

from tests.served import served

RULES = ["V-257984", "V-258057", "V-257989"]
BROWSER = {"accept": "text/html"}


def test_the_plan_says_what_would_be_changed_and_what_is_left_and_then_starts_that_run(tmp_path):
    with served(tmp_path / "data", "--speed", "0") as server, httpx.Client(base_url=server.url, timeout=30) as http:
        order = {"host": "fixture", "rules": RULES, "mode": "auto"}
        found = http.post("/api/v1/runs/forecast", json=order).json()
        assert (found["rules"], found["simulated"], found["seconds"]) == (3, True, None)
        rows = {one["rule"]: one for one in found["findings"]}
        assert rows["V-257984"]["source"] == "the fix text"
        assert rows["V-257984"]["actions"][0]["value"] == "no"
        assert [rule for rule, one in rows.items() if one["asks_a_person"]] == ["V-258057"]
        assert rows["V-257989"]["question"] == "has no proposal that is safe here"
        assert http.get("/api/v1/runs").json()["runs"] == []

        form = {"host": "fixture", "skill": "stig", "rules": ",".join(RULES), "mode": "auto", "engine": "none"}
        page = http.post("/plan", data=form, headers=BROWSER).text
        assert "fixture: 3 findings, 2 with a change that the policy accepts" in page
        assert "1 of these changes asks a person first" in page
        assert re.search("PermitEmptyPasswords.*no", page)
        for name, value in form.items():
            assert f'<input type="hidden" name="{name}" value="{value}">' in page
        wrong = http.post("/plan", data=form | {"rules": "V-1"}, headers=BROWSER)
        assert (wrong.status_code, "There is no rule" in wrong.text) == (422, True)
        assert http.post("/runs", data=form).status_code == 303
