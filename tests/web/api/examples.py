"""python -m tests.web.api.examples: sends each example of the API to a server, and keeps the answers that it gave.

Read the difference before you commit it: people see it beside each operation. test_openapi_examples.py sends all again.
"""

import getpass
import json
import re
import shlex
import shutil
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from app.web.api.openapi_examples import PLACEHOLDERS, RECORDED
from tests.engines.conftest import simulator
from tests.scanners.openscap.content import SMALL, TAILORING
from tests.served import served
from tests.targets.ssh.host import ssh_host
from tests.web.api.conftest import Api

PASSWORD = "correct horse battery staple"
TIME = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?")
DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")
SECRET = re.compile(r"(temper|whsec)_[\w+/=-]{20,}")
INSPECTION = re.compile(r"^[\w-]{22}$")
SHOWN_TIME = "2026-11-26T09:30:00.000Z"
MOST_ITEMS, MOST_TEXT, MOST_LINES = 2, 400, 12
EARLY = ("add_", "keep_", "put_", "make_")
LATE = ("delete_", "remove_", "disable_", "end_", "start_probe", "stop_engine", "start_engine", "seat_own", "forget_")
"""What adds something comes first, so that the lists have it; what others need is taken away last."""


@dataclass
class Sent:
    status: int
    media: str
    answer: object
    text: str = ""


@dataclass
class World:
    """A server with one of each thing, and what the examples call it."""

    api: Api
    description: dict
    names: dict[str, str] = field(default_factory=dict)
    """Placeholder to the value that is meant."""
    own: dict[str, dict[str, str]] = field(default_factory=dict)
    """The same for one operation."""

    def replaced(self, text: str, operation: str) -> str:
        names = self.names | self.own.get(operation, {})
        for shown in sorted(names, key=len, reverse=True):
            text = text.replace(shown, names[shown])
        return text

    def name_inspection(self) -> None:
        """A server is asked before its models are seated. A run that waits for approval keeps this one as it is."""
        created(self.api, "runs", review("fixture-12"))
        found = self.api.post("/api/v1/lineup/server", json={"address": self.names["http://127.0.0.1:8080"]})
        self.own["seat_own_server"] = {"k1Zp0uX2mQ8rT5vW7yBcDg": found.json()["inspection"]}

    def end_runs(self) -> None:
        """Engines are measured while no run works."""
        for state in ("queued", "running", "paused"):
            for one in self.api.get(f"/api/v1/runs?state={state}").json()["runs"]:
                self.api.post(f"/api/v1/runs/{one['id']}/stop")
        self.api.until("/api/v1/runs", lambda seen: all(one["ended_at"] for one in seen["runs"]))

    def shown(self, text: str, operation: str) -> str:
        """The answer as the documentation shows it."""
        names = self.names | self.own.get(operation, {})
        for shown, real in sorted(names.items(), key=lambda pair: -len(pair[1])):
            text = text.replace(real, shown)
        text = INSPECTION.sub("k1Zp0uX2mQ8rT5vW7yBcDg", SECRET.sub(r"\1_…", text))
        return DAY.sub(lambda day: day[0] if day[0] == "2027-01-31" else "2026-11-26", TIME.sub(SHOWN_TIME, text))

    def send(self, operation: str, curl: str) -> Sent:
        """Do what the command of the documentation does."""
        if operation == "start_probe":
            self.end_runs()
        if operation == "seat_own_server":
            self.name_inspection()
        method, address, headers, body = parsed(curl)
        said = body and json.dumps(translated(json.loads(body), lambda text: self.replaced(text, operation)))
        address = self.replaced(address.replace("$TEMPER", ""), operation)
        with self.api.stream(method, address, headers=headers, content=said) as answer:
            media = answer.headers.get("content-type", "").partition(";")[0]
            if operation == "stream_all_events":
                created(self.api, "runs", {"host": "fixture-11", "mode": "scan", "rules": ["V-257985"]})
            if media == "text/event-stream":
                text = first_message(answer)
                return Sent(answer.status_code, media, text, text)
            answer.read()
        if not answer.content:
            return Sent(answer.status_code, "", None)
        if media.endswith("json"):
            return Sent(answer.status_code, media, answer.json(), answer.text)
        return Sent(answer.status_code, media, None if media == "application/zip" else answer.text, answer.text[:300])


def operations(description):
    """Name and description of each operation, in the order in which the examples can be sent."""
    every = [(one["operationId"], one) for path in description["paths"].values() for one in path.values()]

    def turn(pair):
        late = next((1 + at for at, begins in enumerate(LATE) if pair[0].startswith(begins)), 0)
        return -1 if pair[0].startswith(EARLY) else late

    return sorted(every, key=turn)


def parsed(curl):
    words = shlex.split(curl)
    method, address, headers, body = "GET", "", {}, None
    words = iter(words[1:])
    for word in words:
        match word:
            case "-X":
                method = next(words)
            case "-H":
                name, _, value = next(words).partition(": ")
                headers[name] = value
            case "-d":
                body = next(words)
            case "-o":
                next(words)
            case "-sS" | "-N":
                pass
            case _:
                address = word
    return method, address, headers, body


def first_message(answer):
    lines = []
    for line in answer.iter_lines():
        if not line and any(one.startswith("data:") for one in lines):
            return "\n".join(lines)
        if line and not line.startswith(":"):
            lines.append(line)
    return "\n".join(lines)


def translated(value, change):
    if isinstance(value, dict):
        return {name: translated(one, change) for name, one in value.items()}
    if isinstance(value, list):
        return [translated(one, change) for one in value]
    return change(value) if isinstance(value, str) else value


def shortened(value):
    """The part of an answer that fits beside its operation: two of each list, and the beginning of each text."""
    if isinstance(value, dict):
        return {name: shortened(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shortened(one) for one in value[:MOST_ITEMS]]
    if isinstance(value, str):
        lines = value.splitlines()
        cut = "\n".join(lines[:MOST_LINES])[:MOST_TEXT]
        return value if cut == "\n".join(lines) else cut + " …"
    return value


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


@contextmanager
def receiver():
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever, daemon=True, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def world(folder):
    home = folder / "home"
    (home / ".local/share/xml/scap").mkdir(parents=True)
    shutil.copy(SMALL, home / ".local/share/xml/scap")
    with (
        receiver() as port,
        ssh_host(folder / "there") as host,
        simulator("--speed", "0") as models,
        served(folder / "data", "--speed", "0", environment={"HOME": str(home)}) as server,
        Api(base_url=server.url, timeout=30) as api,
    ):
        api.until("/readyz", lambda said: said["ready"])
        made = World(api, api.get("/openapi.json").json())
        become_admin(api)
        name_what_is_sent(made, host, port)
        models.wait_until_ready()
        made.names["http://127.0.0.1:8080"] = models.root()
        fill(made)
        yield made


def become_admin(api):
    """Whoever uses the demo without signing in can make no links."""
    created(api, "people", {"name": "ops", "right": "admin", "password": PASSWORD})
    token = created(api, "tokens", {"label": "examples", "person": "ops", "right": "admin"})
    api.headers["authorization"] = f"Bearer {token['secret']}"


def name_what_is_sent(made, host, port):
    until = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 30 * 86400))
    made.names |= {
        "temper@192.0.2.10:22": f"{getpass.getuser()}@127.0.0.1:{host.port}",
        "/etc/temper/web-1.key": str(host.key),
        "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU": host.host_key.get_fingerprint(),
        "2027-01-31": until,
        "<xccdf:Tailoring>…</xccdf:Tailoring>": TAILORING.read_text(),
        "ssg-debian12": "small",
        "http://127.0.0.1:9000/": f"http://127.0.0.1:{port}/",
    }


def created(api, path, body):
    answer = api.post(f"/api/v1/{path}", json=body)
    assert answer.is_success, answer.text
    return answer.json()


def fill(made):
    """One of each thing that an example names."""
    api, own = made.api, made.own
    run = created(api, "runs", {"host": "fixture", "rules": ["V-257820", "V-257985"], "note": "nightly"})["id"]
    api.ended(run)
    asked = [created(api, "runs", review(f"fixture-{number}"))["id"] for number in (4, 5, 6, 7)]
    rollout = ended_rollout(api)
    moving = [created(api, "rollouts", {**review(""), "hosts": [f"fixture-{number}"]})["id"] for number in (8, 9, 10)]
    approval = next(one for one in approvals(api, asked) if one["run"] == asked[0])
    for path in (f"runs/{asked[2]}", f"rollouts/{moving[1]}"):
        created(api, f"{path}/pause", {})
        api.until(f"/api/v1/{path}", lambda seen: seen["state"] == "paused")
    schedule = created(api, "schedules", {"host": "fixture-2", "cron": "0 3 * * 0", "mode": "scan"})["id"]
    waiver = created(api, "waivers", waived(made))["id"]
    hook = {"url": made.names["http://127.0.0.1:9000/"] + "hook", "local": True, "kinds": ["run.failed"]}
    webhook = created(api, "webhooks", hook)["id"]
    created(api, "people", {"name": "bob", "right": "viewer", "password": PASSWORD})
    token = created(api, "tokens", {"label": "spare", "person": "bob"})["id"]
    values = {"run": run, "rollout": rollout, "approval": approval["id"], "schedule": schedule, "waiver": waiver}
    values |= {"webhook": webhook, "token": token}
    made.names |= {PLACEHOLDERS[name]: value for name, value in values.items()}
    for verb, one, many in zip(("pause", "resume", "stop"), asked[1:], moving, strict=True):
        own[f"{verb}_run"], own[f"{verb}_rollout"] = {PLACEHOLDERS["run"]: one}, {PLACEHOLDERS["rollout"]: many}
    own["disable_person"] = {PLACEHOLDERS["name"]: "bob"}


def review(host):
    return {"host": host, "rules": ["V-257985"], "mode": "review"}


def ended_rollout(api):
    rollout = created(api, "rollouts", {"hosts": ["fixture-2", "fixture-3"], "rules": ["V-257985"], "mode": "auto"})
    api.until(f"/api/v1/rollouts/{rollout['id']}", lambda seen: seen["ended_at"])
    return rollout["id"]


def approvals(api, runs):
    return api.until("/api/v1/approvals", lambda seen: set(runs) <= {one["run"] for one in seen["approvals"]})[
        "approvals"
    ]


def waived(made):
    return {
        "rule": "V-257820",
        "owner": "Ops lead",
        "reason": "Accepted until the new client is here.",
        "until": made.names["2027-01-31"],
    }


def record(made):
    """Answers by operation, as the file has them."""
    found = {}
    for name, one in operations(made.description):
        sent = made.send(name, one["x-codeSamples"][0]["source"])
        if sent.status >= 400:
            raise SystemExit(f"{name}: {sent.status} {sent.text}")
        found[name] = {"status": sent.status}
        if sent.answer is not None and sent.status != 204:
            answer = translated(shortened(sent.answer), lambda text, name=name: made.shown(text, name))
            found[name] |= {"media": sent.media, "answer": answer}
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, world(Path(folder)) as made:
        RECORDED.write_text(json.dumps(record(made), indent=1, ensure_ascii=False, sort_keys=True) + "\n")
