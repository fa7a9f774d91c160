"""One server for all of the API's tests: a real process with a finished run and one that waits for a person."""

import time

import httpx
import pytest

from tests.served import served

PATIENCE = 60.0


class Api(httpx.Client):
    def until(self, path, good):
        """Ask until the answer is good; the server pushes nothing to a test."""
        until = time.monotonic() + PATIENCE
        while True:
            answer = self.get(path)
            if answer.status_code == 200 and good(answer.json()):
                return answer.json()
            assert time.monotonic() < until, answer.text
            time.sleep(0.05)

    def start(self, **order):
        answer = self.post("/api/v1/runs", json={"host": "fixture", **order})
        assert answer.status_code == 202, answer.text
        return answer.json()["id"]

    def ended(self, run):
        return self.until(f"/api/v1/runs/{run}", lambda seen: seen["ended_at"])


@pytest.fixture(scope="session")
def api(tmp_path_factory):
    data = tmp_path_factory.mktemp("api") / "data"
    with served(data, "--speed", "0") as server, Api(base_url=server.url, timeout=20) as client:
        client.server = server
        client.until("/readyz", lambda said: said["ready"])
        yield client


@pytest.fixture(scope="session")
def finished(api):
    """A run of two rules: one passes, one takes a rollback first."""
    run = api.start(rules=["V-257820", "V-257985"], note="both")
    assert api.ended(run)["state"] == "finished"
    return run


def problem(answer, status, kind, field=None):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    said = answer.json()
    assert (said["type"], said["status"]) == (f"/problems/{kind}", status)
    if field:
        assert field in [one["field"] for one in said["errors"]], said
    return said
