"""The client against a real server, and against one that fails as networks do."""

import json
import subprocess
import sys

import httpx
import pytest

from app.config import PACKAGE
from temper_client import AsyncTemper, ConnectionFailed, Temper
from temper_client.problems import InvalidProblem, NotFoundProblem, UnauthorizedProblem
from tests.served import served

RULES = ["V-257820", "V-257985"]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with served(tmp_path_factory.mktemp("client") / "data", "--speed", "0") as server:
        yield server.url


def test_a_run_is_started_followed_and_read(url):
    with Temper(url) as temper:
        run = temper.start_run(host="fixture", rules=RULES, idempotency_key="k")["id"]
        assert temper.start_run(host="fixture", rules=RULES, idempotency_key="k")["id"] == run
        seen = [event["seq"] for event in temper.follow_run(run)]
        assert temper.wait_for_run(run)["state"] == "finished"
        log = list(temper.iterate_events(run))
        passed = temper.list_events(run, kind="item.passed", limit=1)
        assert temper.take_pack(run)[:2] == b"PK"
        assert {one["status"] for one in temper.list_items(run)["items"]} == {"passed"}
        rest = [event["seq"] for event in temper.follow_run(run, since=len(log) - 2)]
    assert seen == [event["seq"] for event in log] == [*range(1, len(log) + 1)]
    assert rest == seen[-2:]
    assert passed["events"][0]["kind"] == "item.passed"


def test_pages_are_turned_until_the_last(url):
    with Temper(url) as temper:
        runs = [temper.start_run(host="fixture", rules=RULES[:1], mode="scan")["id"] for _ in range(3)]
        for run in runs:
            temper.wait_for_run(run)
            temper.change_run(run, tags=["paged"])
        assert [one["id"] for one in temper.iterate_runs(tag="paged", limit=1)] == runs[::-1]
        audited = [line["seq"] for line in temper.iterate_audit()]
    assert audited == [*range(audited[0], 0, -1)]


async def test_asyncio_has_the_same(url):
    async with AsyncTemper(url) as temper:
        run = (await temper.start_run(host="fixture", rules=RULES[:1], mode="scan"))["id"]
        seen = [event["seq"] async for event in temper.follow_run(run)]
        log = [event["seq"] async for event in temper.iterate_events(run)]
        assert (await temper.wait_for_run(run))["state"] == "finished"
        assert run in [one["id"] async for one in temper.iterate_runs(limit=1)]
        with pytest.raises(NotFoundProblem):
            await temper.show_run("nope")
    assert seen == log


def test_each_type_of_problem_is_a_class_with_its_fields(url):
    with Temper(url) as temper:
        with pytest.raises(NotFoundProblem) as gone:
            temper.show_run("../people")
        with pytest.raises(InvalidProblem) as wrong:
            temper.start_run(host="fixture", mode="loud")
    assert (gone.value.status, gone.value.kind) == (404, "not-found")
    assert [one.field for one in wrong.value.faults] == ["mode"]
    with Temper(url, token="temper_wrong") as stranger, pytest.raises(UnauthorizedProblem):
        stranger.list_runs()
    with Temper("http://127.0.0.1:9") as nobody, pytest.raises(ConnectionFailed, match=r"127\.0\.0\.1:9"):
        nobody.list_runs()


class Breaking(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A stream that sends what it has, and is cut off."""

    def __init__(self, *chunks, whole=False):
        self._chunks, self._whole = chunks, whole

    def __iter__(self):
        yield from self._chunks
        if not self._whole:
            raise httpx.ReadError("cut off")

    async def __aiter__(self):
        for chunk in self:
            yield chunk


def message(seq, kind):
    return f"id: {seq}\nevent: {kind}\ndata: {json.dumps({'seq': seq, 'kind': kind})}\n\n".encode()


class Failing:
    """Answers a stream in pieces, as a server behind a bad network."""

    def __init__(self):
        self.asked, self.slept = [], []
        self._answers = [
            httpx.Response(200, stream=Breaking(message(1, "run.queued"), b"id: 2\nevent: run.st")),
            httpx.Response(503),
            httpx.Response(200, stream=Breaking(b": still here\n\n", message(2, "run.started"))),
            httpx.Response(200, stream=Breaking(b'event: reset\ndata: {"seq":0}\n\n', whole=True)),
            httpx.Response(200, stream=Breaking(message(3, "run.finished"), message(3, "end"), whole=True)),
        ]

    def __call__(self, request):
        self.asked.append(request.headers.get("last-event-id"))
        return self._answers.pop(0)

    async def sleep(self, seconds):
        self.slept.append(seconds)


ASKED, SLEPT = [None, "1", "1", "2", None], [0.5, 1.0, 0.5, 0.5]
"""After the last whole message, and from the start after a reset; longer each time until a message comes."""


def test_a_stream_that_is_cut_off_goes_on_after_the_last_whole_message():
    there = Failing()
    with Temper("http://there", transport=httpx.MockTransport(there), sleep=there.slept.append) as temper:
        seen = [event["kind"] for event in temper.follow_run("r")]
    assert seen == ["run.queued", "run.started", "run.finished"]
    assert (there.asked, there.slept) == (ASKED, SLEPT)


async def test_a_stream_that_is_cut_off_goes_on_with_asyncio_too():
    there = Failing()
    async with AsyncTemper("http://there", transport=httpx.MockTransport(there), sleep=there.sleep) as temper:
        seen = [event["kind"] async for event in temper.follow_run("r")]
    assert seen == ["run.queued", "run.started", "run.finished"]
    assert (there.asked, there.slept) == (ASKED, SLEPT)


def test_what_stands_between_and_speaks_no_json_is_a_problem_too():
    answer = httpx.MockTransport(lambda _: httpx.Response(502, html="<h1>Bad gateway</h1>"))
    with Temper("http://there", transport=answer) as temper, pytest.raises(Exception, match="Bad gateway") as found:
        temper.list_runs()
    assert (found.value.status, found.value.kind) == (502, "")


def test_it_needs_nothing_of_the_server():
    said = "import sys, temper_client; print([name for name in sys.modules if name.split('.')[0] == 'app'])"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    assert done.stdout == "[]\n"
