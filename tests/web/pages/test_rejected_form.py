"""A form that was not taken comes back with what was typed, whichever form it is."""

import re
from html import unescape

import pytest

from app.web.pages.rejected_form import build_rejected_form_if_any_visible_field
from tests.runs.doors import house
from tests.web.pages.mission_log import EVENTS

BROWSER = {"accept": "text/html"}
HOSTILE = '"><script>alert(1)</script>'
FORMS = {
    "/runs": ({"host": "fixture", "skill": HOSTILE, "mode": "auto", "rules": "V-257985"}, "skill"),
    "/schedules": ({"host": "fixture", "skill": "stig", "mode": "scan", "cron": "soon", "zone": "UTC"}, "cron"),
    "/hosts": ({"name": "web1", "place": "u@192.0.2.1", "way": "key", "secret_at": ""}, "secret_at"),
    "/fleet": ({"hosts": "none", "mode": "scan", "skill": "stig", "rules": "all", "waves": "1,rest", "note": "n"}, ""),
    "/people": ({"name": "a b", "right": "viewer", "password": "long enough to be one"}, "name"),
    "/runs/r1/label": ({"name": "n" * 81, "tags": "one two"}, "name"),
    "/runs/r1/ask": ({"verb": "edit", "approval": "a1", "actions": "[\n]", "reason": "why not"}, ""),
}


def fields(html):
    """Name to value, as a browser would send them again."""
    form = html[html.index("again-form") :]
    sent = {name: unescape(value) for name, value in re.findall(r'<input[^>]* name="(\w+)" value="([^"]*)"', form)}
    sent |= {name: unescape(value) for name, value in re.findall(r'name="(\w+)"[^>]*>\n([^<]*)</textarea>', form)}
    for select in re.findall(r'<select name="(\w+)".*?</select>', form, re.DOTALL):
        [sent[select]] = re.findall(rf'name="{select}".*?<option selected>([^<]*)<', form, re.DOTALL)
    return sent


@pytest.mark.parametrize("path", FORMS)
async def test_what_was_typed_is_still_there_and_can_be_sent_again(tmp_path, path):
    typed, wrong = FORMS[path]
    async with house(tmp_path / "data") as made:
        made.append("r1", *EVENTS)
        page = await made.http.post(path, data=typed, headers=BROWSER)
        assert 400 <= page.status_code < 500, page.text
        assert fields(page.text) == {name: value for name, value in typed.items() if name != "password"}
        assert "long enough to be one" not in page.text
        assert f'action="{path}"' in page.text
        assert "<script>alert" not in page.text
        if wrong:
            assert re.search(rf'name="{wrong}"[^>]*aria-invalid', page.text)
        elsewhere = await made.http.post(path, data=typed)
        assert elsewhere.headers["content-type"] == "application/problem+json"


QUERIES = {
    "/parameters?skill=zz": ("There is no skill &#39;zz&#39;; choose one of drift, scap, stig, stig_wide.", "skill"),
    "/parameters?host=zz&skill=stig": ("There is no host &#39;zz&#39;. The hosts are: fixture.", "host"),
    "/fleet?skill=zz": ("There is no skill &#39;zz&#39;; choose one of drift, scap, stig, stig_wide.", "skill"),
    "/fleet/hosts/fixture?skill=zz": (
        "There is no skill &#39;zz&#39;; choose one of drift, scap, stig, stig_wide.",
        "skill",
    ),
    "/runs?state=zz&host=fixture": ("There is no state &#39;zz&#39;; choose one of queued, running,", "state"),
}


@pytest.mark.parametrize("address", QUERIES)
async def test_an_unknown_value_in_an_address_is_named_and_another_can_be_entered(tmp_path, address):
    sentence, wrong = QUERIES[address]
    path, _, query = address.partition("?")
    async with house(tmp_path / "data") as made:
        page = await made.http.get(address, headers=BROWSER)
        assert page.status_code == 422
        assert f"<h1>{sentence}" in page.text
        assert f'<form class="again-form card" method="get" action="{path}">' in page.text
        assert fields(page.text) == dict(one.split("=") for one in query.split("&"))
        assert re.search(rf'name="{wrong}"[^>]*aria-invalid', page.text)
        assert "Nothing was changed" not in page.text


async def test_a_list_after_an_unknown_run_is_no_first_page_and_an_unknown_host_is_shown_as_asked(tmp_path):
    async with house(tmp_path / "data") as made:
        made.append("r1", *EVENTS)
        lost = await made.http.get("/runs?after=zz", headers=BROWSER)
        assert lost.status_code == 404
        assert "There is no run “zz”" in lost.text
        none = (await made.http.get("/runs?host=zz", headers=BROWSER)).text
        assert "<option selected>zz</option>" in none
        assert "No run matches." in none


async def test_a_value_that_is_missing_in_an_address_has_no_form_without_it(tmp_path):
    async with house(tmp_path / "data") as made:
        page = await made.http.get("/fleet/cell?host=zz", headers=BROWSER)
        assert (page.status_code, "again-form" in page.text) == (422, False)


def test_a_refusal_of_what_nobody_typed_has_no_form():
    assert build_rejected_form_if_any_visible_field("/ops/engines/x", {"verb": "start"}, "") is None
