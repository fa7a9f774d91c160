"""Signing in over a real server: a password, a session, a token, a shared link, and what each may."""

import hashlib
import sqlite3
from contextlib import ExitStack, closing, suppress

import httpx
import pytest

from tests import forkserver
from tests.served import served

PASSWORD = "a long enough password"


def temper(*words, said=""):
    return forkserver.temper(*words, input=said)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signed") / "data"
    for name, right in (("ada", "admin"), ("vic", "viewer")):
        made = temper("admin", "create", name, "--right", right, "--data", str(folder), said=f"{PASSWORD}\n")
        assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture(scope="module")
def server(data):
    with served(data, "--speed", "0", "--sign-in") as running:
        yield running


@pytest.fixture
def client(server):
    """Clients of the server, each with cookies of its own, closed at the end."""
    with ExitStack() as stack:
        yield lambda **words: stack.enter_context(httpx.Client(base_url=server.url, **words))


@pytest.fixture
def signed_in(client):
    def sign_in(name, password=PASSWORD):
        http = client(headers={"accept": "text/html"})
        return http, http.post("/sign-in", data={"name": name, "password": password, "next": "/runs"})

    return sign_in


def test_nobody_is_let_in_and_is_shown_where_to_sign_in(server):
    with httpx.Client(base_url=server.url) as http:
        answer = http.get("/", headers={"accept": "text/html"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=/")
        assert "Sign in" in http.get("/sign-in").text
        assert http.get("/api/v1/runs").status_code == 401


def test_a_session_is_the_persons_and_ends_when_they_sign_out(signed_in, client):
    http, answer = signed_in("ada")
    cookie = answer.headers["set-cookie"]
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert http.get("/api/v1/me").json() == {"name": "ada", "right": "admin", "via": "session"}
    assert "ada" in http.get("/runs").text
    http.post("/sign-out")
    assert http.get("/api/v1/me", headers={"cookie": cookie.partition(";")[0]}).status_code == 401


def test_what_a_person_does_goes_on_record_under_their_name_whatever_they_say(signed_in, client):
    http, _ = signed_in("ada")
    run = http.post("/api/v1/runs", json={"host": "fixture", "rules": ["V-257820"], "by": "somebody else"}).json()["id"]
    first = http.get(f"/api/v1/runs/{run}/events?limit=1").json()["events"][0]
    assert first["by"] == "ada"
    lines = http.get("/api/v1/audit").json()["lines"]
    assert ("ada", "POST /api/v1/runs", 202) in [(one["who"], one["did"], one["status"]) for one in lines]
    assert "POST /api/v1/runs" in http.get("/audit").text


def test_a_viewer_watches_and_is_told_whom_to_ask(signed_in, client):
    http, _ = signed_in("vic")
    assert http.get("/runs").status_code == 200
    refused = http.post("/runs")
    assert refused.status_code == 403
    assert "This requires the right operator, but vic has the right viewer. Ask an admin." in refused.text


@pytest.mark.parametrize("to", ["//elsewhere.example", "https://elsewhere.example", "/\\elsewhere.example", "x"])
def test_signing_in_never_leads_elsewhere(server, to):
    with httpx.Client(base_url=server.url) as http:
        answer = http.post("/sign-in", data={"name": "ada", "password": PASSWORD, "next": to})
        assert answer.headers["location"] == "/"


def test_a_token_is_shown_once_kept_as_a_digest_and_can_be_ended(signed_in, client, data):
    http, _ = signed_in("ada")
    made = http.post("/api/v1/tokens", json={"label": "ci", "right": "operator"}).json()
    script = client(headers={"authorization": f"Bearer {made['secret']}"})
    assert script.get("/api/v1/me").json() == {"name": "ada", "right": "operator", "via": "token"}
    assert script.get("/api/v1/people").status_code == 403
    assert made["secret"] not in http.get("/api/v1/tokens").text
    assert http.delete(f"/api/v1/tokens/{made['id']}").status_code == 204
    assert script.get("/api/v1/me").status_code == 401
    for path in data.rglob("*"):
        with suppress(FileNotFoundError, IsADirectoryError):  # a host is laid out meanwhile
            content = path.read_bytes()
            assert made["secret"].encode() not in content, path
            assert PASSWORD.encode() not in content, path


def test_the_cookie_by_which_a_browser_is_known_is_no_token(signed_in, data):
    http, _ = signed_in("ada")
    with closing(sqlite3.connect(data / "temper.sqlite", timeout=10)) as database:
        ids = [one for (one,) in database.execute("select id from credential where kind = 'browser'")]
    assert ids
    assert {http.delete(f"/api/v1/tokens/{one}").status_code for one in ids} == {404}


def test_a_viewers_token_cannot_hold_more_than_the_viewer(server, data):
    refused = temper("token", "create", "vic", "--right", "operator", "--data", str(data))
    assert refused.returncode == 1
    assert "vic has the right viewer: a token cannot have a higher right" in refused.stderr
    made = temper("token", "create", "vic", "--data", str(data))
    with httpx.Client(base_url=server.url, headers={"authorization": f"Bearer {made.stdout.strip()}"}) as script:
        assert script.get("/api/v1/me").json()["right"] == "viewer"


def test_a_shared_link_opens_the_page_and_nothing_more(signed_in, client):
    http, _ = signed_in("ada")
    link = http.post("/api/v1/links", json={"hours": 1}).json()
    guest = client(follow_redirects=True, headers={"accept": "text/html"})
    page = guest.get(link["path"])
    assert page.status_code == 200
    assert "by a shared link" in page.text
    assert guest.post("/runs").status_code == 403


def test_wrong_passwords_are_slowed_down(signed_in, client):
    statuses = [signed_in("nobody-here", f"wrong password {n}")[1].status_code for n in range(7)]
    assert statuses[0] == 403
    assert statuses[-1] == 429


def test_on_a_network_it_does_not_start_before_somebody_can_sign_in(tmp_path):
    refused = temper("serve", "--host", "0.0.0.0", "--port", "0", "--data", str(tmp_path / "data"))
    assert refused.returncode == 1
    assert "Create one with `temper admin create NAME" in refused.stderr


def test_a_password_as_it_was_kept_before_is_kept_anew_when_it_is_given(tmp_path):
    salt, data = bytes(16), tmp_path / "data"
    old = f"scrypt${salt.hex()}${hashlib.scrypt(PASSWORD.encode(), salt=salt, n=2**14, r=8, p=1, dklen=32).hex()}"
    made = temper("admin", "create", "otto", "--data", str(data), said=f"{PASSWORD}\n")
    assert made.returncode == 0, made.stderr
    database = sqlite3.connect(data / "temper.sqlite", timeout=10)
    with database:
        database.execute("update person set password = ?", [old])
    with served(data, "--speed", "0", "--sign-in") as server, httpx.Client(base_url=server.url, timeout=60) as http:
        for word, status, kept in (("not the password", 403, "scrypt$"), *[(PASSWORD, 303, "$argon2id$")] * 2):
            answer = http.post("/sign-in", data={"name": "otto", "password": word})
            assert answer.status_code == status
            assert database.execute("select password from person").fetchone()[0].startswith(kept)
    database.close()
