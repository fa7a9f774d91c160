"""Hosts over the API, on a real sshd: known, asked for consent where they could not be rolled back, and forgotten."""

import getpass

import pytest

from tests.served import served
from tests.targets.ssh.host import ssh_host
from tests.web.api.conftest import Api, problem

RULE = "V-257985"
NO_JOURNAL = "--ro-bind /usr /var/lib"
WORDS = "I accept that web cannot be rolled back"


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    """A server of these tests' own: others count the runs of theirs."""
    with (
        served(tmp_path_factory.mktemp("hosts") / "data", "--speed", "0") as server,
        Api(base_url=server.url, timeout=20) as client,
    ):
        client.until("/readyz", lambda said: said["ready"])
        yield client


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    with ssh_host(tmp_path_factory.mktemp("host") / "there") as started:
        yield started


@pytest.fixture
def web(api, host):
    """Known for the length of a test."""
    answer = api.post("/api/v1/hosts", json=order(host))
    assert answer.status_code == 201, answer.text
    yield answer.json()
    host.enters()
    api.delete("/api/v1/hosts/web")


def order(host, **changed):
    place = f"{getpass.getuser()}@127.0.0.1:{host.port}"
    right = {"secret_at": str(host.key), "accept_key": host.host_key.get_fingerprint()}
    return {"name": "web", "kind": "ssh", "place": place, **right, **changed}


def hosts(api):
    return {one["name"]: one for one in api.get("/api/v1/hosts").json()["hosts"]}


@pytest.mark.parametrize(
    ("changed", "kind", "field", "says"),
    [
        ({"accept_key": ""}, "host-key", "accept_key", "shows the host key SHA256:"),
        ({"accept_key": "SHA256:other"}, "host-key", "accept_key", "Compare it with the key on the host"),
        ({"name": "fixture"}, "unsupported-host", "name", "cannot be a host's name"),
        ({"place": "web"}, "unsupported-host", "place", "user@address"),
        ({"place": "root@127.0.0.1:1"}, "unsupported-host", "place", "does not answer"),
        ({"way": "password", "secret_at": "/etc/shadow"}, "unsupported-host", "secret_at", "TEMPER_SSH_"),
        ({"way": "password", "secret_at": "TEMPER_SSH_A"}, "unsupported-host", "secret_at", "TEMPER_SSH_A_FOR="),
    ],
)
def test_what_is_wrong_with_a_host_is_said_and_it_stays_unknown(api, host, changed, kind, field, says):
    said = problem(api.post("/api/v1/hosts", json=order(host, **changed)), 422, kind, field)
    assert says in said["detail"]
    assert "web" not in hosts(api)


def test_an_account_that_is_not_root_there_is_no_way_in(api, host):
    host.enters(uid=1000, sudo=False)
    said = problem(api.post("/api/v1/hosts", json=order(host)), 503, "unavailable")
    host.enters()
    assert "may not use sudo without a password" in said["detail"]
    assert "web" not in hosts(api)


def test_a_host_is_known_by_its_key_until_it_is_forgotten(api, host):
    added = api.post("/api/v1/hosts", json=order(host))
    assert added.status_code == 201, added.text
    assert added.json() == hosts(api)["web"]
    place, right = order(host)["place"], host.host_key.get_fingerprint()
    view = (added.json()["place"], added.json()["fingerprint"], added.json()["way"], added.json()["simulated"])
    assert view == (place, right, "key", False)
    again = problem(api.post("/api/v1/hosts", json=order(host)), 422, "unsupported-host", "name")
    assert "There is already a host 'web'" in again["detail"]
    forgotten = api.delete("/api/v1/hosts/web")
    assert (forgotten.status_code, forgotten.content) == (204, b"")
    assert "web" not in hosts(api)
    problem(api.delete("/api/v1/hosts/web"), 404, "not-found", "host")
    problem(api.delete("/api/v1/hosts/fixture"), 404, "not-found", "host")


@pytest.mark.usefixtures("web")
def test_a_host_that_a_run_works_on_is_not_forgotten(api):
    run = api.start(host="web", rules=[RULE])
    api.until("/api/v1/approvals", lambda said: run in [one["run"] for one in said["approvals"]])
    said = problem(api.delete("/api/v1/hosts/web"), 409, "busy", "host")
    assert run in said["detail"]
    assert hosts(api)["web"]["run"] == run
    assert api.post(f"/api/v1/runs/{run}/stop").status_code == 202
    assert api.ended(run)["state"] == "stopped"
    assert api.delete("/api/v1/hosts/web").status_code == 204


@pytest.mark.usefixtures("web")
def test_a_host_that_could_not_be_rolled_back_is_changed_for_who_says_so(api, host):
    host.enters(small=NO_JOURNAL)
    refused = api.ended(api.start(host="web", rules=[RULE], mode="auto"))
    assert refused["state"] == "failed"
    assert f'--without-rollback "{WORDS}"' in refused["reason"]
    assert api.ended(api.start(host="web", rules=[RULE], mode="scan"))["state"] == "finished"
    wrong = {"host": "web", "rules": [RULE], "mode": "auto", "consent": "I accept that db cannot be rolled back"}
    assert f'give "{WORDS}"' in problem(api.post("/api/v1/runs", json=wrong), 422, "invalid", "consent")["detail"]
    run = api.start(host="web", rules=[RULE], mode="auto", consent=WORDS)
    ended = api.ended(run)
    assert ended["state"] == "finished", ended["reason"]
    report = api.get(f"/api/v1/runs/{run}/report.html").text
    assert f"said: “{WORDS}”" in report
    assert f"asked for the run in mode auto, and said “{WORDS}”" in report


@pytest.mark.usefixtures("web")
def test_the_page_asks_for_the_same_words(api):
    assert WORDS in api.get("/hosts").text
    wrong = api.post("/runs", data={"host": "web", "consent": "yes"})
    assert (wrong.status_code, WORDS in wrong.text) == (422, True)
    started = api.post("/runs", data={"host": "web", "consent": WORDS})
    assert started.status_code == 303, started.text
    run = started.headers["location"].rpartition("/")[2]
    first = api.get(f"/api/v1/runs/{run}/events").json()["events"][0]
    assert WORDS in str(first)
    api.post(f"/api/v1/runs/{run}/stop")
    api.ended(run)


def test_by_the_page_a_person_compares_the_key_before_a_login_is_tried(api, host):
    host.enters()
    said = {name: value for name, value in order(host).items() if name in ("name", "place", "secret_at")}
    shown = host.host_key.get_fingerprint()
    asked = api.post("/hosts", data={**said, "way": "key"})
    assert (asked.status_code, shown in asked.text) == (200, True)
    other = api.post("/hosts", data={**said, "way": "key", "accept_key": "SHA256:other"})
    assert "This key differs from the one that you compared" in other.text
    assert "web" not in hosts(api)
    added = api.post("/hosts", data={**said, "way": "key", "accept_key": shown})
    assert "Host web added" in added.text
    assert hosts(api)["web"]["fingerprint"] == shown
    api.delete("/api/v1/hosts/web")
