"""What is sent again and what is not: tags, parts of a pack, and answers made smaller on the way."""

import gzip
import io
import zipfile

import pytest

from app.events.kinds import RunStopped
from app.runs.order import Order, create_run_request
from app.web.conditional_responses import ByteRange, RangeNotSatisfiable, matches_etag, parse_range_if_single_and_valid
from tests.runs.doors import house

RUN = "0badcafe"


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (None, None),
        ("bytes=0-9", ByteRange(0, 9)),
        ("bytes=90-", ByteRange(90, 99)),
        ("bytes=-5", ByteRange(95, 99)),
        ("bytes=-500", ByteRange(0, 99)),
        ("bytes=99-2000", ByteRange(99, 99)),
        ("bytes=9-0", None),
        ("bytes=-", None),
        ("bytes=0-1,5-6", None),
        ("lines=0-1", None),
        ("bytes=x-1", None),
        ("bytes=" + "9" * 40 + "-", None),
    ],
)
def test_a_range_is_one_stretch_of_bytes_and_anything_else_is_all_of_it(asked, found):
    assert parse_range_if_single_and_valid(asked, 100) == found


@pytest.mark.parametrize("asked", ["bytes=100-", "bytes=100-200", "bytes=-0"])
def test_a_range_behind_the_end_cannot_be_given(asked):
    with pytest.raises(RangeNotSatisfiable):
        parse_range_if_single_and_valid(asked, 100)


def test_tags_are_compared_weakly_and_in_lists():
    assert matches_etag('"a"', 'W/"a"')
    assert matches_etag('"b", W/"a"', '"a"')
    assert matches_etag("*", '"a"')
    assert not matches_etag(None, '"a"')
    assert not matches_etag('"b"', '"a"')


@pytest.fixture
async def here(tmp_path):
    async with house(tmp_path) as made:
        asked = create_run_request(Order(rules=("V-257820",), by="ada"), made.lineup, made.settings.hosts_folder)
        made.append(RUN, asked, RunStopped("ada", "", ""))
        yield made.http


async def test_what_has_not_changed_is_not_sent_again(here):
    for path in (f"/api/v1/runs/{RUN}", f"/api/v1/runs/{RUN}/poam.json", "/api/v1/rules"):
        first = await here.get(path)
        assert first.status_code == 200, first.text
        again = await here.get(path, headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
        other = await here.get(path, headers={"if-none-match": '"another"'})
        assert other.content == first.content
        head = await here.head(path)
        assert (head.status_code, head.headers["etag"]) == (200, first.headers["etag"])
        assert (await here.head(path, headers={"if-none-match": first.headers["etag"]})).status_code == 304
    static = await here.get("/static/mission.css")
    again = await here.get("/static/mission.css", headers={"if-none-match": static.headers["etag"]})
    assert again.status_code == 304


async def test_a_pack_that_was_cut_off_is_gone_on_with(here):
    path = f"/api/v1/runs/{RUN}/evidence.zip"
    whole = await here.get(path)
    tag, size = whole.headers["etag"], len(whole.content)
    assert (tag[0], whole.headers["accept-ranges"]) == ('"', "bytes")
    head = await here.head(path, headers={"range": "bytes=0-99"})
    assert (head.status_code, head.headers["etag"]) == (200, tag), "a range is GET's alone"
    start = await here.get(path, headers={"range": "bytes=0-99"})
    rest = await here.get(path, headers={"range": "bytes=100-", "if-range": tag})
    assert (start.status_code, rest.status_code) == (206, 206)
    assert rest.headers["content-range"] == f"bytes 100-{size - 1}/{size}"
    assert rest.headers["content-length"] == str(size - 100)
    assert zipfile.ZipFile(io.BytesIO(start.content + rest.content)).testzip() is None
    changed = await here.get(path, headers={"range": "bytes=100-", "if-range": '"another"'})
    assert (changed.status_code, len(changed.content)) == (200, size)
    behind = await here.get(path, headers={"range": f"bytes={size}-"})
    assert (behind.status_code, behind.headers["content-range"]) == (416, f"bytes */{size}")
    assert behind.json()["type"] == "/problems/no-such-range"
    assert (await here.get(path, headers={"range": "bytes=0-99", "if-none-match": tag})).status_code == 304


async def test_pages_and_json_are_compressed_for_who_takes_it_and_packs_and_streams_are_not(here):
    for path in ("/runs", "/api/v1/rules", "/static/mission.css"):
        plain = await here.get(path, headers={"accept-encoding": "identity"})
        small = await here.send(here.build_request("GET", path, headers={"accept-encoding": "gzip"}), stream=True)
        body = b"".join([part async for part in small.aiter_raw()])
        assert small.headers["content-encoding"] == "gzip"
        assert "accept-encoding" in small.headers["vary"].lower()
        assert "content-encoding" not in plain.headers
        assert len(body) < len(plain.content) / 2
        if path != "/runs":  # a page has its own nonce each time
            assert gzip.decompress(body) == plain.content
    for path in (f"/api/v1/runs/{RUN}/evidence.zip", f"/api/v1/runs/{RUN}/stream"):
        assert "content-encoding" not in (await here.get(path, headers={"accept-encoding": "gzip"})).headers
