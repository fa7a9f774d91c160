"""A form that was not taken comes back with what was typed, whichever form it is."""

import re
from html import unescape

import pytest

from app.web.pages.rejected_form import redisplay_form
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


def test_a_refusal_of_what_nobody_typed_has_no_form():
    assert redisplay_form("/ops/engines/x", {"verb": "start"}, "") is None
