"""An address that leads nowhere: a page for a browser, JSON for everybody else, and the API's problems as they were."""

import pytest

from app.web.api.problem import KINDS
from app.web.pages.refused import STATUS
from tests.runs.doors import house


async def test_a_browser_gets_a_page_with_ways_on_and_others_get_json(tmp_path):
    async with house(tmp_path / "data") as made:
        http = made.http
        browser = {"accept": "text/html,*/*;q=0.8"}
        page = await http.get("/wp-admin/<b>", headers=browser)
        assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert "There is nothing at &#39;/wp-admin/&lt;b&gt;&#39;." in page.text
        assert 'href="/runs"' in page.text
        assert "script-src 'self' 'nonce-" in page.headers["content-security-policy"]
        assert (await http.get("/wp-admin")).json() == {"detail": "Not Found"}
        problem = await http.get("/api/v1/nothing", headers=browser)
        assert problem.headers["content-type"] == "application/problem+json"


async def test_an_address_that_cannot_be_read_gets_a_page_in_a_browser_and_json_elsewhere(tmp_path):
    async with house(tmp_path / "data") as made:
        http = made.http
        page = await http.get("/runs/none?at=x", headers={"accept": "text/html"})
        assert (page.status_code, page.headers["content-type"]) == (422, "text/html; charset=utf-8")
        assert "This cannot be read: at." in page.text
        assert (await http.get("/runs/none?at=x")).json()["detail"][0]["loc"] == ["query", "at"]


@pytest.mark.parametrize("kind", [*STATUS, "invalid", "unknown-host", "unknown-skill", "unknown-rule"])
def test_what_is_not_taken_has_the_same_status_on_a_page_and_in_an_answer(kind):
    assert STATUS.get(kind, 422) == KINDS[kind].status
