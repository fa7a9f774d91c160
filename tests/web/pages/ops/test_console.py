"""What an operator does from /ops, over a real server."""

import httpx

from tests.served import served


def test_engines_stop_and_start_under_a_run_that_waits_for_them(tmp_path):
    with served(tmp_path / "data", "--speed", "0") as server, httpx.Client(base_url=server.url) as http:
        assert http.post("/ops/engines", data={"verb": "explode"}).status_code == 422
        assert "Stop engines" in http.get("/ops").text
        assert http.post("/ops/engines", data={"verb": "stop"}).headers["location"] == "/ops"
        assert "Start engines" in http.get("/ops").text
        order = {"host": "fixture", "rules": ["V-257820"]}
        assert http.post("/api/v1/runs", json=order).status_code == 202
        server.wait_for_kind("turn.started")
        (run,) = server.runs()
        started = http.post("/ops/engines", data={"verb": "start", "run": run})
        assert (started.status_code, started.headers["location"]) == (303, f"/runs/{run}"), (
            "back to where it was pressed"
        )
        server.wait_for_kind("item.passed")
        page = http.get("/ops").text
        assert "V-257820 passed at attempt 1" in page


def test_a_run_that_is_not_there_gets_a_page_that_helps_and_never_a_fault(tmp_path):
    with served(tmp_path / "data", "--speed", "0") as server, httpx.Client(base_url=server.url) as http:
        for path in ("/runs/none", "/runs/none/items/V-1", "/compare?left=a&right=b", "/compare"):
            answer = http.get(path)
            assert answer.status_code == 404
            assert "Start the first run" in answer.text
        for path in ("/runs/none/page", "/runs/none/replay?speed=1"):
            assert http.get(path).status_code == 404
        assert http.get("/runs/none?at=x").status_code == 422


def test_another_site_cannot_stop_the_engines(tmp_path):
    with served(tmp_path / "data", "--speed", "0") as server, httpx.Client(base_url=server.url) as http:
        headers = {"sec-fetch-site": "cross-site"}
        assert http.post("/ops/engines", data={"verb": "stop"}, headers=headers).status_code == 403
        assert "Stop engines" in http.get("/ops").text
