"""The line-up page over a real server: what it shows, and a probe asked for on it."""

import time

import httpx
import pytest

from tests.served import served

PATIENCE = 60.0


@pytest.fixture(scope="module")
def http(tmp_path_factory):
    with (
        served(tmp_path_factory.mktemp("lineup") / "data", "--speed", "100") as server,
        httpx.Client(base_url=server.url, timeout=20) as client,
    ):
        client.server = server
        until(client, "/readyz", lambda answer: answer.status_code == 200)
        yield client


def until(http, path, good):
    until = time.monotonic() + PATIENCE
    while not good(answer := http.get(path)):
        assert time.monotonic() < until, answer.text
        time.sleep(0.05)
    return answer


def test_each_engine_has_its_gpus_its_roles_and_its_limit_with_the_arithmetic(http):
    page = http.get("/lineup").text
    for words in ("GPU 0 + 1", "ARCHITECT", "tp 2", "At most", "tok/s for one stream", "300 GB/s", "Not probed yet"):
        assert words in page
    assert "No probes yet." in page


def test_a_line_up_without_a_gpu_is_shown_and_is_not_simulated(http):
    page = http.get("/lineup/cpu").text
    for words in ("SmolLM2 135M", "CPU", "GGUF", "runs on the processor", "context 4,096"):
        assert words in page
    assert "SIMULATED" not in page
    assert "tp 1" not in page


def test_a_shipped_line_up_can_be_looked_at_and_another_name_lists_them(http):
    assert http.get("/lineup/simulated").status_code == 200
    lost = http.get("/lineup/nope", headers={"accept": "text/html"})
    assert lost.status_code == 404
    assert "No line-up is called" in lost.text
    assert http.get("/lineup/..%2fpyproject.toml").status_code == 404
    assert http.get("/lineup/simulated.toml").status_code == 404


def test_another_site_cannot_start_a_probe(http):
    assert http.post("/probes", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert "Not probed yet" in http.get("/lineup").text


def test_an_engine_that_is_not_there_is_said_on_the_page(http):
    assert http.post("/probes", data={"engine": "nope"}).status_code == 303
    assert "has no engine" in http.get("/lineup").text


def test_a_probe_asked_for_on_the_page_ends_up_on_it(http):
    asked = http.post("/probes", data={"engine": "gemma-e2b"})
    assert (asked.status_code, asked.headers["location"]) == (303, "/lineup#probe")
    assert "Probing." in http.get("/lineup").text
    assert "hx-refresh" not in http.get("/probes/now").headers
    assert "A probe is under way" in http.post("/api/v1/probes", json={}).json()["detail"]
    done = until(http, "/probes/now", lambda answer: "Probe now" in answer.text)
    assert done.headers["hx-refresh"] == "true"
    page = http.get("/lineup").text
    assert page.count("Not probed yet") == 2
    assert "gemma-e2b" in page.partition("Probes of this line-up")[2]
    assert "simulated at ×100, brought back to ×1" in page
