"""Who is told of events, over a real socket: signed, in order, again until it is taken."""

import base64
import hashlib
import hmac
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from app.config import PACKAGE
from tests.web.api.conftest import problem

SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()


def shown_check():
    """The receiver's check as docs/api.md shows it."""
    shown = {}
    exec(re.search(r"```python\n(.*?)```", (PACKAGE.parent / "docs" / "api.md").read_text(), re.DOTALL)[1], shown)
    return shown["genuine"]


@pytest.fixture
def listener():
    """Answers with the codes it is given, then with 204."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            server.letters.append((dict(self.headers), body))
            self.send_response(server.codes.pop(0) if server.codes else 204)
            self.end_headers()
            if b'"temper.run.finished"' in body:
                server.finished.set()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.letters, server.codes, server.finished = [], [], threading.Event()
    server.url = f"http://127.0.0.1:{server.server_port}/hook"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def webhook(api, listener):
    def add(**order):
        answer = api.post("/api/v1/webhooks", json={"url": listener.url, "secret": SECRET, "local": True, **order})
        assert answer.status_code == 201, answer.text
        added.append(answer.json()["id"])
        return answer.json()

    added = []
    yield add
    for name in added:
        assert api.delete(f"/api/v1/webhooks/{name}").status_code == 204
        problem(api.get(f"/api/v1/webhooks/{name}"), 404, "not-found", "webhook")


def test_each_event_arrives_once_in_order_as_a_signed_cloudevent(api, listener, webhook):
    webhook()
    run = api.start(rules=["V-257820"])
    assert listener.finished.wait(30)
    events = api.get(f"/api/v1/runs/{run}/events?limit=1000").json()["events"]
    told = [json.loads(body) for _, body in listener.letters]
    assert [one["data"] for one in told] == [event for event in events if event["kind"] != "turn.delta"]
    first, (headers, body) = told[0], listener.letters[0]
    assert (first["specversion"], first["type"], first["id"]) == ("1.0", "temper.run.queued", f"{run}.1")
    assert {one["simulated"] for one in told} == {True}
    assert headers["content-type"].startswith("application/cloudevents+json")
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = hmac.digest(base64.b64decode(SECRET.removeprefix("whsec_")), signed, hashlib.sha256)
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
    genuine = shown_check()
    assert genuine(SECRET, headers, body)
    assert not genuine(SECRET, headers, body + b" ")
    assert not genuine(SECRET, headers | {"webhook-timestamp": "1"}, body)


def test_what_was_not_taken_is_sent_again_before_anything_else(api, listener, webhook):
    listener.codes += [500, 503]
    name = webhook(kinds=["run.queued", "run.finished"])["id"]
    api.start(rules=["V-257820"])
    assert listener.finished.wait(30)
    kinds = [json.loads(body)["type"] for _, body in listener.letters]
    assert kinds == ["temper.run.queued"] * 3 + ["temper.run.finished"]
    said = api.until(f"/api/v1/webhooks/{name}", lambda said: said["delivered"] == 2)
    assert (said["dropped"], said["problem"]) == (0, "")


def test_the_secret_is_told_once(api, webhook):
    made = webhook(secret=None)
    assert made["secret"].startswith("whsec_")
    assert "secret" not in api.get(f"/api/v1/webhooks/{made['id']}").json()
    assert made["secret"] not in api.get("/api/v1/webhooks").text


def test_what_leads_inside_is_held_with_its_reason_until_an_admin_allows_it(api, listener, webhook):
    name = webhook(kinds=["run.queued"])["id"]
    assert api.patch(f"/api/v1/webhooks/{name}", json={"local": False}).json()["local"] is False
    run = api.start(rules=["V-257820"])
    said = api.until(f"/api/v1/webhooks/{name}", lambda said: said["problem"])
    assert said["problem"].startswith("127.0.0.1 leads to 127.0.0.1, which is this machine itself: nothing is sent")
    assert listener.letters == []
    changed = api.patch(f"/api/v1/webhooks/{name}", json={"local": True})
    assert changed.json()["local"] is True
    said = api.until(f"/api/v1/webhooks/{name}", lambda said: said["delivered"])
    assert json.loads(listener.letters[0][1])["id"] == f"{run}.1", "what it was owed is sent"
    assert (said["dropped"], said["problem"]) == (0, "")
    noted = [one["did"] for one in api.get("/api/v1/audit?limit=200").json()["lines"]]
    assert f"webhook {name} may lead to addresses that are not public" in noted


@pytest.mark.parametrize(
    ("order", "field"),
    [
        ({}, "url"),
        ({"url": "ftp://example.org/"}, "url"),
        ({"url": "nonsense"}, "url"),
        ({"url": "http://127.0.0.1:8000/hook"}, "url"),
        ({"url": "http://localhost/hook"}, "url"),
        ({"url": "http://[::1]/hook"}, "url"),
        ({"url": "http://10.1.2.3/hook"}, "url"),
        ({"url": "https://hooks.example/", "secret": "short"}, "secret"),
        ({"url": "https://hooks.example/", "secret": "whsec_!!!!"}, "secret"),
        ({"url": "https://hooks.example/", "kinds": ["run.queued", "run.flown"]}, "kinds[1]"),
        ({"url": "https://hooks.example/", "kinds": ["gpu.sample"]}, "kinds[0]"),
        ({"url": "https://hooks.example/", "kinds": ["audit.done"]}, "kinds[0]"),
        ({"url": "https://hooks.example/", "kinds": "run.queued"}, "kinds"),
        ({"url": "https://hooks.example/", "active": True}, "active"),
    ],
)
def test_a_webhook_that_cannot_be(api, order, field):
    problem(api.post("/api/v1/webhooks", json=order), 422, "invalid", field)


def test_a_test_is_one_signed_letter_and_says_what_came_of_it(api, listener, webhook):
    name = webhook(kinds=["run.failed"])["id"]
    listener.codes += [410]
    assert api.post(f"/api/v1/webhooks/{name}/test").json() == {"taken": False, "problem": "it answered 410"}
    assert api.post(f"/api/v1/webhooks/{name}/test").json() == {"taken": True, "problem": ""}
    (headers, body), _ = listener.letters
    assert json.loads(body)["type"] == "temper.test"
    assert shown_check()(SECRET, headers, body)
    problem(api.post("/api/v1/webhooks/none/test"), 404, "not-found", "webhook")


def test_the_page_tries_a_webhook_out_and_shows_what_came_of_it(api, listener, webhook):
    name = webhook(kinds=["run.failed"])["id"]
    answer = api.post(f"/ops/webhooks/{name}", data={"verb": "test"})
    assert (answer.status_code, answer.headers["location"]) == (303, f"/ops?taken={name}#webhooks")
    assert "test accepted" in api.get(f"/ops?taken={name}").text
    listener.codes += [500]
    assert "it answered 500" in api.post(f"/ops/webhooks/{name}", data={"verb": "test"}).text
    assert api.post(f"/ops/webhooks/{name}", data={"verb": "again", "run": "none"}).status_code == 404


def test_a_run_of_before_it_was_asked_for_is_sent_when_a_person_wants_it(api, finished, listener, webhook):
    name = webhook(kinds=["run.queued", "run.finished"])["id"]
    for _ in range(2):
        listener.finished.clear()
        assert api.post(f"/api/v1/webhooks/{name}/again", json={"run": finished}).status_code == 202
        assert listener.finished.wait(30)
    api.until(f"/api/v1/webhooks/{name}", lambda said: said["delivered"] == 4)
    ids = [json.loads(body)["id"] for _, body in listener.letters]
    assert ids[:2] == ids[2:], "who takes one twice can tell by its id"
    problem(api.post(f"/api/v1/webhooks/{name}/again", json={"run": "none"}), 404, "not-found", "run")


def test_a_rollout_is_told_of_and_told_once_more_when_a_person_asks(api, listener, webhook):
    kinds = ["rollout.asked", "rollout.wave_ended", "rollout.ended"]
    name = webhook(kinds=kinds)["id"]
    asked = api.post("/api/v1/rollouts", json={"hosts": "fixture-6", "rules": ["V-257820"]})
    assert asked.status_code == 202, asked.text
    api.until(f"/api/v1/webhooks/{name}", lambda said: said["delivered"] == 3)
    told = [json.loads(body) for _, body in listener.letters]
    assert [one["type"] for one in told] == [f"temper.{kind}" for kind in kinds]
    rollout = asked.json()["id"]
    assert {(one["source"], one["simulated"]) for one in told} == {(f"/api/v1/rollouts/{rollout}", True)}
    assert api.post(f"/api/v1/webhooks/{name}/again", json={"run": rollout}).status_code == 202
    api.until(f"/api/v1/webhooks/{name}", lambda said: said["delivered"] == 6)
    assert [json.loads(body)["id"] for _, body in listener.letters[3:]] == [one["id"] for one in told]
