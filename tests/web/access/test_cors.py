"""Other sites' pages: none may use the API, unless a setting names them; and never by somebody's cookie."""

from dataclasses import replace

import httpx
import pytest
from starlette.datastructures import Headers

from app.errors import BadInput
from app.main import create_app
from app.web.access.cors import is_cross_origin_write_allowed_by_token_or_demo, parse_origins
from tests.runs.doors import House

PORTAL = "https://portal.example"


@pytest.fixture
async def site(tmp_path):
    """Ask as a page of another site does."""
    made = House(tmp_path)

    async def ask(allowed, method, path, origin=PORTAL, **headers):
        made.settings = replace(made.settings, cors_origins=allowed)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        transport = httpx.ASGITransport(create_app(made))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            return await http.request(method, path, headers={"origin": origin, "sec-fetch-site": "cross-site", **named})

    yield ask
    made.database.dispose()


async def test_by_default_no_other_site_may_read(site):
    answer = await site("", "GET", "/api/v1/rules")
    assert "access-control-allow-origin" not in answer.headers
    before = await site("", "OPTIONS", "/api/v1/rules", access_control_request_method="GET")
    assert "access-control-allow-origin" not in before.headers


async def test_a_site_that_is_named_reads_and_is_told_what_it_may_send(site):
    answer = await site(PORTAL, "GET", "/api/v1/rules")
    assert answer.headers["access-control-allow-origin"] == PORTAL
    assert "ETag" in answer.headers["access-control-expose-headers"]
    before = await site(
        PORTAL, "OPTIONS", "/api/v1/runs", access_control_request_method="POST",
        access_control_request_headers="authorization, idempotency-key",
    )  # fmt: skip
    assert before.status_code == 200
    assert "POST" in before.headers["access-control-allow-methods"]
    for one in (answer, before):
        assert "access-control-allow-credentials" not in one.headers
    other = await site(PORTAL, "GET", "/api/v1/rules", origin="https://elsewhere.example")
    assert "access-control-allow-origin" not in other.headers
    page = await site(PORTAL, "GET", "/runs")
    assert "access-control-allow-origin" not in page.headers


async def test_all_sites_read_without_credentials_and_none_of_them_changes_anything_without_a_token(site):
    answer = await site("*", "GET", "/api/v1/rules")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers
    refused = await site("*", "POST", "/api/v1/runs")
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/cross-site")
    named = await site(PORTAL, "POST", "/api/v1/runs", content_type="application/json")
    assert named.status_code == 422  # it was let in, and had no body


@pytest.mark.parametrize(
    ("allowed", "path", "token", "demo", "may"),
    [
        (PORTAL, "/api/v1/runs", True, False, True),
        (PORTAL, "/api/v1/runs", False, False, False),  # by a cookie
        (PORTAL, "/api/v1/runs", False, True, True),
        ("*", "/api/v1/runs", True, False, True),
        ("*", "/api/v1/runs", False, True, False),
        ("https://other.example", "/api/v1/runs", True, False, False),
        (PORTAL, "/runs", True, False, False),
        ("", "/api/v1/runs", True, False, False),
    ],
)
def test_who_changes_something_from_another_site_brings_a_token(allowed, path, token, demo, may):
    headers = Headers({"origin": PORTAL, **({"authorization": "Bearer temper_x"} if token else {})})
    assert is_cross_origin_write_allowed_by_token_or_demo(headers, path, parse_origins(allowed), demo=demo) is may


@pytest.mark.parametrize(
    "said", ["portal.example", "https://portal.example/page", "null", "https://*.example", "ftp://x"]
)
def test_what_is_no_origin_is_said(said):
    with pytest.raises(BadInput, match="TEMPER_CORS_ORIGINS"):
        parse_origins(said)


def test_origins_are_a_list_and_the_case_of_a_name_does_not_count():
    assert parse_origins(" https://A.example , http://[::1]:3000/ ") == {"https://a.example", "http://[::1]:3000"}
    assert parse_origins("") == frozenset()
