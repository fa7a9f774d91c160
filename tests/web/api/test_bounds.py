"""Numbers beyond what a database holds, and characters that it does not take: said, and never a fault of ours."""

from tests.web.access.walk import filled
from tests.web.api.inside import finished

HUGE = ("99999999999999999999999", "9" * 5000, "-1", "\u0967", "1e400", "0x10", "9223372036854775808")
STREAMS = ("/stream", "/page", "/replay")


def numbers(route):
    """Names of what is a number in the address's query."""
    for inner in (route.dependant, *route.dependant.dependencies):
        yield from (one.alias for one in inner.query_params if one.field_info.annotation in (int, float, int | None))


async def test_no_number_in_any_address_is_too_large_to_be_refused(tmp_path):
    async with finished(tmp_path / "data") as (_, application, run, http):
        asked = 0
        for route in application.routes:
            if "GET" not in (getattr(route, "methods", None) or ()) or not hasattr(route, "dependant"):
                continue
            path = filled(route.path.replace("{run}", run))
            for name in numbers(route):
                for value in HUGE:
                    answer = await http.get(
                        path, params={"speed": "10", name: value} if "replay" in path else {name: value}
                    )
                    assert 400 <= answer.status_code < 500, (path, name, value[:30], answer.status_code)
                    asked += 1
        assert asked > 60


async def test_no_header_that_says_where_a_viewer_stands_is_too_long_to_be_refused(tmp_path):
    async with finished(tmp_path / "data") as (_, _, run, http):
        paths = (f"/runs/{run}/page", f"/runs/{run}/replay?speed=10", f"/api/v1/runs/{run}/stream")
        for path in paths:
            for value in ("9" * 5000, "9" * 23, "-1", "x"):
                answer = await http.get(path, headers={"last-event-id": value})
                assert 400 <= answer.status_code < 500, (path, value[:30])


async def test_a_nul_is_taken_by_no_page_and_no_answer(tmp_path):
    async with finished(tmp_path / "data") as (_, application, run, http):
        for route in application.routes:
            if "GET" not in (getattr(route, "methods", None) or ()) or any(part in route.path for part in STREAMS):
                continue
            path = filled(route.path.replace("{run}", run))
            assert 400 <= (await http.get(path + "%00")).status_code < 500, path
            assert 400 <= (await http.get(path, params={"state": "a\0b"})).status_code < 500, path
