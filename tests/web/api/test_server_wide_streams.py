"""The streams of all runs and of the machine, over a real socket."""

import httpx

from tests.web.api.conftest import problem


def told(api, path, until, headers=None, *, begin=True):
    """The messages of a stream up to one of a kind, as (id, kind)."""
    found, last = [], ""
    with httpx.stream("GET", f"{api.base_url}{path}", headers=headers, timeout=30) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in answer.headers
        for line in answer.iter_lines():
            if line.startswith(": temper") and begin and until == "run.finished":
                api.start(rules=["V-257820"])
            name, _, value = line.partition(": ")
            last = value if name == "id" else last
            if name == "event":
                found.append((last, value))
                if value == until:
                    return found
    return found


def test_every_run_is_told_by_one_stream_that_can_be_gone_on_with(api):
    found = told(api, "/api/v1/stream?kind=run.queued,run.started,run.finished", "run.finished")
    assert [kind for _, kind in found] == ["run.queued", "run.started", "run.finished"]
    first, *rest = found
    path = "/api/v1/stream?kind=run.started,run.finished"
    assert told(api, path, "run.finished", {"last-event-id": first[0]}, begin=False) == rest


def test_samples_are_told_as_they_are_read_and_from_an_earlier_one_on(api):
    found = told(api, "/api/v1/samples/stream?kind=gpu.sample", "gpu.sample")
    assert found[-1][1] == "gpu.sample"
    seq = int(found[-1][0])
    again = told(api, f"/api/v1/samples/stream?since={seq - 1}", "gpu.sample")
    assert (str(seq), "gpu.sample") in again


def test_what_is_not_a_kind_or_an_id_is_said(api):
    problem(api.get("/api/v1/stream?kind=gpu.sample"), 422, "invalid", "kind")
    problem(api.get("/api/v1/samples/stream?kind=run.queued"), 422, "invalid", "kind")
    problem(api.get("/api/v1/stream?since=x"), 422, "invalid", "since")
