"""A model server that is chosen on the line-up page, over a real server: shown, seated, used by the next run."""

import re
import socket
import time
from contextlib import contextmanager

import httpx
import pytest

from tests.engines.conftest import simulator
from tests.engines.endpoint_wire import play_endpoint
from tests.served import served

PATIENCE = 60.0
KEY = "sk-typed-on-a-page-and-shown-nowhere"
BROWSER = {"accept": "text/html"}
HOSTILE = "<script>alert(1)</script>"


def until(http, path, good):
    last = time.monotonic() + PATIENCE
    while not good(answer := http.get(path)):
        assert time.monotonic() < last, answer.text
        time.sleep(0.05)
    return answer


@contextmanager
def opened(data, *words):
    with served(data, "--speed", "0", *words) as server, httpx.Client(base_url=server.url, timeout=60) as http:
        until(http, "/readyz", lambda answer: answer.status_code == 200)
        yield server, http


@pytest.fixture(scope="module")
def http(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("own") / "data") as (_, client):
        yield client


def answering(text):
    return play_endpoint(lambda _: httpx.Response(200, content=text.encode()))


def ask(http, address, **typed):
    return http.post("/lineup/server", data={"address": address, "key": KEY, **typed}, headers=BROWSER)


def held(page, name):
    return re.search(rf'name="{name}" value="([^"]*)"', page.text)[1]


def holds_key(path):
    try:
        return KEY.encode() in path.read_bytes()
    except FileNotFoundError:
        return False  # a journal of SQLite, which comes and goes


@pytest.mark.timeout(120)
def test_the_chosen_server_is_used_by_the_next_run_and_a_run_in_progress_keeps_its_own(tmp_path):
    with simulator("--speed", "0") as models:
        models.wait_until_ready()
        with opened(tmp_path / "data") as (server, http):
            use_server_after_a_run(http, f"{models.root()}/v1")
            written = [path for path in tmp_path.rglob("*") if path.is_file()]
            assert (tmp_path / "data/own-server.toml") in written
            assert [path.name for path in written if holds_key(path)] == []
        with opened(tmp_path / "data") as (server, http):
            assert "Stop using this server" in http.get("/lineup").text
            assert "which was chosen on the page" in server.log.read_text()
            assert http.post("/lineup/server/forget").status_code == 303
            until(http, "/lineup", lambda page: "Stop using" not in page.text and "GPU 0 + 1" in page.text)
        with opened(tmp_path / "data") as (server, http):
            assert "Stop using this server" not in http.get("/lineup").text


def use_server_after_a_run(http, base):
    order = {"host": "fixture", "rules": ["V-257985"], "mode": "review"}
    before = http.post("/api/v1/runs", json=order).json()["id"]
    until(http, "/api/v1/approvals", lambda answer: answer.json()["approvals"])
    asked = ask(http, base)
    assert asked.status_code == 303
    shown = http.get(asked.headers["location"])
    for words in ("answers bound to a JSON Schema", "token counts", "thoughts", "metrics", "4,096 tokens"):
        assert words in shown.text
    seated = http.post("/lineup/server/seats", data={"inspection": held(shown, "inspection")})
    assert (seated.status_code, seated.headers["location"]) == (303, "/lineup#own-server")
    waits = http.get("/lineup")
    assert "as soon as 1 run has ended" in waits.text
    assert "GPU 0 + 1" in waits.text
    assert "hx-refresh" not in http.get("/lineup/server/now").headers
    assert KEY not in asked.text + shown.text + waits.text
    assert http.post(f"/api/v1/runs/{before}/stop").is_success
    until(http, "/lineup", lambda page: "Stop using this server" in page.text)
    assert http.get("/lineup/server/now").headers["hx-refresh"] == "true"
    after = http.post("/api/v1/runs", json={**order, "mode": "auto"}).json()["id"]
    ended = until(http, f"/api/v1/runs/{after}", lambda answer: answer.json()["ended_at"]).json()
    assert ended["lineup"] == "own-server"
    assert http.get(f"/api/v1/runs/{before}").json()["lineup"] == "simulated"


@pytest.mark.parametrize("said", ["<html>no</html>", "[]", '{"data": [{"id": 7}]}', "\x00\xff", ""])
def test_a_server_that_answers_garbage_is_an_error_and_what_was_typed_stays_but_the_key(http, said):
    with answering(said) as base:
        page = ask(http, base, model="mine")
    assert page.status_code == 422
    assert "not a list of models" in page.text
    assert (held(page, "address"), held(page, "model")) == (base, "mine")
    assert re.search(r'<input[^>]*type="password"[^>]*name="key"|<input[^>]*name="key"[^>]*type="password"', page.text)
    assert KEY not in page.text


def test_text_of_the_server_is_escaped(http):
    with answering(f'{{"data": [{{"id": "{HOSTILE}"}}]}}') as base:
        page = ask(http, base, model="another")
    assert page.status_code == 422
    assert "&lt;script&gt;alert(1)" in page.text
    assert HOSTILE not in page.text


def test_a_server_that_never_answers_is_given_up_within_the_time(http):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        page = ask(http, f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
    assert page.status_code == 422
    assert "sent nothing for 5 s" in page.text


def test_an_address_that_is_none_and_one_that_is_not_allowed_say_so(http):
    assert "is not an address" in ask(http, "server").text
    assert "where clouds tell machines their secrets" in ask(http, "http://169.254.169.254/v1").text
    assert "cannot be reached" in ask(http, "http://127.0.0.1:1/v1").text


def test_another_site_cannot_choose_a_server_and_a_lost_inspection_says_what_to_do(http):
    assert (
        http.post(
            "/lineup/server", data={"address": "http://h/v1"}, headers={"sec-fetch-site": "cross-site"}
        ).status_code
        == 403
    )
    assert "ask again" in http.get("/lineup?inspection=lost").text
    assert "ask again" in http.post("/lineup/server/seats", data={"inspection": "lost"}, headers=BROWSER).text


def test_the_key_is_in_no_answer_of_the_api(http):
    for body in (
        {"address": "nonsense", "key": KEY},
        {"address": 7, "key": KEY},
        {"address": "http://h/v1", "key": [KEY]},
    ):
        answer = http.post("/api/v1/lineup/server", json=body)
        assert answer.status_code == 422
        assert KEY not in answer.text
