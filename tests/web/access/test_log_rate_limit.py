"""Which answers become lines of the server's log, how often, and what is left out of them."""

import logging

import pytest
from starlette.responses import Response

from app.web.access.access_rechecks import AccessRechecks
from app.web.access.action_and_refusal_audit import AccessLedger, AuditSyslog
from app.web.access.authenticator import Authenticator
from app.web.access.log_rate_limit import WITHIN, RepeatedLogFilter, RequestLog
from app.web.access.request_gate import Gate
from tests.web.access.conftest import scope


@pytest.fixture(autouse=True)
def lines(caplog):
    caplog.set_level("INFO")
    return lambda: [one for one in caplog.records if one.name.startswith("app.")]


def ask(log, path="/x", status=404, method="GET", kind=""):
    log.log_failed_answer({**scope(method, path), "state": {"kind": kind}}, None, status)


def test_a_refusal_is_a_line_a_minute_for_each_kind(lines):
    log = RequestLog()
    for kind in ("wrong-host", "wrong-host", "cross-site", "wrong-host"):
        ask(log, status=403, kind=kind)
    ask(log, status=200)
    assert [(one.kind, one.status, one.many) for one in lines()] == [("wrong-host", 403, 1), ("cross-site", 403, 1)]


def test_a_status_without_a_problem_has_the_kind_that_the_api_gives_it(lines):
    for status in (401, 403, 429, 418):
        ask(RequestLog(), status=status)
    assert [one.kind for one in lines()] == ["unauthorized", "forbidden", "too-often", "other"]


def test_every_failure_is_a_line(lines):
    log = RequestLog()
    for status in (500, 503, 503):
        ask(log, status=status)
    assert [(one.getMessage(), one.levelname, one.kind) for one in lines()] == [
        ("request failed", "ERROR", "fault"),
        ("request failed", "WARNING", "unavailable"),
        ("request failed", "WARNING", "unavailable"),
    ]


@pytest.mark.parametrize(
    "path", ["/share/s3cret", "//share/s3cret", "/SHARE/s3cret/", "/share//s3cret", "/x/share/s3cret"]
)
def test_the_secret_in_the_address_of_a_shared_link_is_left_out(lines, path):
    ask(RequestLog(), path=path)
    [line] = lines()
    assert "s3cret" not in line.path
    assert line.path.endswith("/…")


async def test_an_answer_that_breaks_off_and_one_that_fails_go_by_the_gate(lines, database):
    async def fail(scope, receive, send):
        if scope["path"] == "/breaks":
            raise RuntimeError
        await Response(status_code=503)(scope, receive, send)

    async def nothing():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        pass

    credentials = Authenticator(database, demo=True)
    gate = Gate(fail, credentials, AccessLedger(database, AuditSyslog("")), AccessRechecks(credentials))
    local = {"headers": [(b"host", b"localhost")]}
    await gate(scope("GET", "/fails") | local, nothing, send)
    with pytest.raises(RuntimeError):
        await gate(scope("GET", "/breaks") | local, nothing, send)
    credentials.close()
    assert [(one.path, one.status) for one in lines()] == [("/fails", 503), ("/breaks", 500)]


def test_the_same_complaint_is_told_once_a_minute_with_its_count():
    now = 0.0
    hush = RepeatedLogFilter(clock=lambda: now)

    def told(said):
        record = logging.LogRecord("asyncio", logging.ERROR, "", 0, said, None, None)
        return record.msg if hush.filter(record) else None

    assert told("no more files\nsocket: 7") == "no more files\nsocket: 7"
    assert [told(f"no more files\nsocket: {number}") for number in range(2000)] == [None] * 2000
    assert told("another") == "another"
    now = WITHIN
    assert told("no more files") == "no more files (and 2000 more since it was last logged)"
