"""An address that leads nowhere: a page for a browser, a problem for everybody else, as from the API."""

import pytest

from app.web.api.problem import KINDS
from app.web.pages.error_pages import STATUS
from tests.runs.doors import house


async def test_a_browser_gets_a_page_with_ways_on_and_others_get_a_problem(tmp_path):
    async with house(tmp_path / "data") as made:
        http = made.http
        browser = {"accept": "text/html,*/*;q=0.8"}
        page = await http.get("/wp-admin/<b>", headers=browser)
        assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert "Page not found: &#39;/wp-admin/&lt;b&gt;&#39;." in page.text
        assert 'href="/runs"' in page.text
        assert "script-src 'self' 'nonce-" in page.headers["content-security-policy"]
        assert _problem(await http.get("/wp-admin")) == ("about:blank", 404, "Page not found: '/wp-admin'.")
        problem = await http.get("/api/v1/nothing", headers=browser)
        assert problem.headers["content-type"] == "application/problem+json"


async def test_an_address_that_cannot_be_read_gets_a_page_in_a_browser_and_a_problem_elsewhere(tmp_path):
    async with house(tmp_path / "data") as made:
        http = made.http
        page = await http.get("/runs/none?at=x", headers={"accept": "text/html"})
        assert (page.status_code, page.headers["content-type"]) == (422, "text/html; charset=utf-8")
        assert "Invalid value: at." in page.text
        told = ("/problems/invalid", 422, "Invalid value: at. Enter another value.")
        assert _problem(await http.get("/runs/none?at=x")) == told


async def test_what_is_asked_for_and_unknown_is_a_problem_with_a_sentence(tmp_path):
    async with house(tmp_path / "data") as made:
        for path in ("/parameters?skill=zz", "/fleet/cell?host=zz"):
            kind, status, _ = _problem(await made.http.get(path))
            assert status == 422
            assert (await made.http.get(kind)).status_code == 200
        taken = await made.http.post("/parameters", data={"skill": "zz", "name": "x", "value": "1"})
        assert _problem(taken)[1] == 422
        other = await made.http.put("/runs")
        assert (other.headers["allow"], _problem(other)[1]) == ("GET, HEAD, OPTIONS, POST", 405)


def _problem(answer):
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert told["status"] == answer.status_code
    return told["type"], told["status"], told["detail"]


@pytest.mark.parametrize("kind", [*STATUS, "invalid", "unknown-host", "unknown-skill", "unknown-rule"])
def test_what_is_not_taken_has_the_same_status_on_a_page_and_in_an_answer(kind):
    assert STATUS.get(kind, 422) == KINDS[kind].status
