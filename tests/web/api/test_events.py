"""A run's events: by page, as a stream, and the items that are made of them."""

import json
import threading

import httpx
import pytest

from app.events.kinds import RunPaused, RunStopped
from app.runs.order import Order, create_run_request
from tests.runs.doors import house
from tests.web.api.conftest import problem


def all_events(api, run, limit=1000):
    events, since = [], 0
    while since is not None:
        page = api.get(f"/api/v1/runs/{run}/events", params={"since": since, "limit": limit}).json()
        events += page["events"]
        since = page["next"]
    return events


def test_pages_join_to_the_whole_log(api, finished):
    events = all_events(api, finished, limit=7)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert (events[0]["kind"], events[-1]["kind"]) == ("run.queued", "run.finished")


def test_who_has_all_is_told_that_there_is_no_more(api, finished):
    newest = len(all_events(api, finished))
    page = api.get(f"/api/v1/runs/{finished}/events?since={newest}").json()
    assert (page["events"], page["newest"], page["next"]) == ([], newest, None)


def test_kinds_are_filtered(api, finished):
    asked = api.get(f"/api/v1/runs/{finished}/events?kind=item.passed,sentry.alarm").json()
    assert [event["kind"] for event in asked["events"]].count("item.passed") == 2
    assert {event["kind"] for event in asked["events"]} == {"item.passed", "sentry.alarm"}
    for kind in ("nope", "", "item.passed,", "gpu.sample"):
        problem(api.get(f"/api/v1/runs/{finished}/events", params={"kind": kind}), 422, "invalid", "kind")


@pytest.mark.parametrize("query", ["since=-1", "since=x", f"since={2**70}", "since=99999", "limit=1001"])
def test_a_range_that_is_none(api, finished, query):
    problem(api.get(f"/api/v1/runs/{finished}/events?{query}"), 422, "invalid", query.split("=")[0])


def messages(text):
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":") and ": " in line)
        if fields:
            yield fields


def test_the_stream_of_a_run_that_has_ended_is_its_log_and_an_end(api, finished):
    answer = api.get(f"/api/v1/runs/{finished}/stream")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert (answer.headers["x-accel-buffering"], answer.headers["cache-control"]) == ("no", "no-store")
    assert answer.text.startswith(": temper\n\n")
    *told, end = messages(answer.text)
    events = all_events(api, finished)
    assert [json.loads(one["data"]) for one in told] == events
    assert [(int(one["id"]), one["event"]) for one in told] == [(one["seq"], one["kind"]) for one in events]
    assert (end["event"], end["id"]) == ("end", str(len(events)))


def test_a_viewer_that_comes_back_gets_what_it_missed(api, finished):
    whole = api.get(f"/api/v1/runs/{finished}/stream").text
    for cut in (1, 17, 60):
        address = f"/api/v1/runs/{finished}/stream?since=3"
        rest = api.get(address, headers={"Last-Event-ID": str(cut)}).text
        assert [one["id"] for one in messages(rest)] == [one["id"] for one in messages(whole)][cut:]
    since = api.get(f"/api/v1/runs/{finished}/stream?since=17").text
    assert next(messages(since))["id"] == "18"


def test_a_viewer_with_more_than_there_is_starts_anew(api, finished):
    assert [one["event"] for one in messages(api.get(f"/api/v1/runs/{finished}/stream?since=999999").text)] == ["reset"]


@pytest.mark.parametrize("headers", [{"Last-Event-ID": "x"}, {"Last-Event-ID": "-1"}])
def test_a_cursor_that_is_none(api, finished, headers):
    problem(api.get(f"/api/v1/runs/{finished}/stream", headers=headers), 422, "invalid", "Last-Event-ID")
    problem(api.get(f"/api/v1/runs/{finished}/stream?since=x"), 422, "invalid", "since")
    problem(api.get("/api/v1/runs/nope/stream"), 404, "not-found", "run")


def test_a_live_run_is_streamed_to_its_end_alike_for_all(api):
    run = api.start(rules=["V-257820"], mode="auto")
    got = {}

    def watch(name):
        got[name] = httpx.get(f"{api.base_url}/api/v1/runs/{run}/stream?since=0", timeout=30).text

    threads = [threading.Thread(target=watch, args=(name,)) for name in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(got.values())) == 1
    assert [json.loads(one["data"]) for one in messages(got[0])][:-1] == all_events(api, run)


def test_items_tell_what_was_tried(api, finished):
    listed = api.get(f"/api/v1/runs/{finished}/items").json()
    assert {item["rule"]: item["attempts"] for item in listed["items"]} == {"V-257820": 1, "V-257985": 2}
    assert all((item["opening"], item["closing"]) == ("fail", "pass") for item in listed["items"])
    story = api.get(f"/api/v1/runs/{finished}/items/V-257985").json()
    assert [one["cause"] for one in story["item"]["failures"]] == ["alarm"]
    kinds = [event["kind"] for event in story["events"]]
    assert kinds.count("turn.started") == kinds.count("turn.finished") > 6
    assert "turn.delta" not in kinds
    problem(api.get(f"/api/v1/runs/{finished}/items/V-1"), 404, "not-found", "rule")


async def test_a_stream_holds_only_the_kinds_that_were_asked_for_and_goes_on_by_the_same_ids(tmp_path):
    async with house(tmp_path) as made:
        asked = create_run_request(Order(rules=("V-257820",), by="ada"), made.lineup, made.settings.hosts_folder)
        made.append("r1", asked, RunPaused(by="ada"), RunStopped("ada", "", ""))
        told = [one["event"] for one in messages((await made.http.get("/api/v1/runs/r1/stream?kind=run.paused")).text)]
        both = (await made.http.get("/api/v1/runs/r1/stream?kind=run.queued,run.stopped&since=1")).text
        wrong = await made.http.get("/api/v1/runs/r1/stream?kind=nope")
    assert told == ["run.paused", "end"]
    assert [(one["event"], one["id"]) for one in messages(both)] == [("run.stopped", "3"), ("end", "3")]
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "kind")
