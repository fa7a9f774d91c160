"""Asked by the SDK's own client, over an application in this process."""

import json
import sys
from types import SimpleNamespace

import httpx
import msgspec
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from sqlmodel import Session

from app.cli.mcp_server import RestApi, create_mcp_server, serve_mcp
from app.cli.options import read_secret
from app.errors import BadInput
from app.events.kinds import ItemEscalated, ItemStarted, RunFailed, RunFinished
from app.store import issued_credentials
from app.store.models import PersonRow
from tests.runs.doors import house
from tests.runs.test_approval_answer import QUEUED, WAITING, asks
from tests.runs.test_open_decision_reader import STIG, begin
from tests.web.api.inside import finished
from tests.web.pages.mission_log import EVENTS
from tests.web.pages.test_inbox import ASKED

LOOKING = {
    "list_hosts",
    "list_rules",
    "scan_host",
    "list_runs",
    "show_run",
    "list_items",
    "list_candidates",
    "show_rollout",
    "follow_run",
    "wait_for_run",
    "forecast_run",
    "list_approvals",
    "list_inbox",
}
DECIDING = {"answer_approval", "answer_decision", "add_waiver"}
ORDERING = {"plan_dry_run", "order_review_run", "order_review_rollout", "check_after_reboot", "stop_run"}


def said(result):
    assert not result.is_error, result.content
    return json.loads(result.content[0].text)


def refused(result):
    assert result.is_error
    return result.content[0].text


def sent(seen):
    def answer(request):
        seen.append((request.method, request.url.path, json.loads(request.content or b"null"), request.headers))
        return httpx.Response(200, json={"via": "token"})

    return httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url="http://temper")


async def test_what_there_is_to_call_changes_nothing_by_itself_and_takes_no_command(tmp_path):
    async with Client(create_mcp_server(RestApi(sent([])))) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == LOOKING | ORDERING | DECIDING
    assert {name for name, tool in tools.items() if tool.annotations.destructive_hint} == DECIDING
    assert {name for name, tool in tools.items() if tool.annotations.read_only_hint} == LOOKING
    fields = {field for tool in tools.values() for field in tool.input_schema["properties"]}
    assert not fields & {"mode", "actions", "command", "content", "path", "budget", "consent", "keep"}
    answer = tools["answer_approval"].input_schema["properties"]
    assert answer["decision"]["enum"] == ["approve", "refuse"]
    assert answer["reason"]["description"] == "Reason, for the log."


async def test_a_finished_run_is_looked_at_and_followed(tmp_path):
    async with finished(tmp_path / "data") as (_, _, run, http), Client(create_mcp_server(RestApi(http))) as client:
        assert said(await client.call_tool("list_hosts", {}))["hosts"][0]["simulated"] is True
        assert said(await client.call_tool("show_run", {"run": run}))["state"] == "finished"
        items = said(await client.call_tool("list_items", {"run": run}))["items"]
        assert [(item["rule"], item["status"], item["not_in_force"]) for item in items] == [("V-257820", "passed", [])]
        proposed = said(await client.call_tool("list_candidates", {"run": run, "rule": "V-257820"}))
        item = (await http.get(f"/api/v1/runs/{run}/items/V-257820")).json()
        assert proposed == {"run": run, "rule": "V-257820", "candidates": item["candidates"]}
        first = said(await client.call_tool("follow_run", {"run": run, "wait": 0}))
        assert first["events"][0]["kind"] == "run.queued"
        assert not [event for event in first["events"] if event["kind"].startswith("turn.")]
        assert said(await client.call_tool("list_inbox", {})) == {"count": 0, "decisions": []}
        heard = []

        async def hear(progress, total, message):
            heard.append((progress, total, message))

        ended = said(await client.call_tool("wait_for_run", {"run": run}, progress_callback=hear))
        assert (ended["run"]["state"], ended["approvals"]) == ("finished", [])
        done = ended["run"]["findings"]
        assert heard == [(done, done, f"{done} of {done} findings are done")]
        forecast = said(await client.call_tool("forecast_run", {"host": "fixture", "rules": ["V-257985"]}))
        assert [one["rule"] for one in forecast["findings"]] == ["V-257985"]
        then = said(await client.call_tool("follow_run", {"run": run, "since": first["newest"], "wait": 0}))
        assert then["events"] == []
        assert "There is no run" in refused(await client.call_tool("show_run", {"run": "0a1b"}))
        assert "pattern" in refused(await client.call_tool("show_run", {"run": "../me"}))
        wrong = await client.call_tool("plan_dry_run", {"host": "fixture", "rules": ["V-1"]})
        assert "there is no rule" in refused(wrong).lower()
        no_person = await client.call_tool(
            "answer_approval", {"approval": "x.V-1.1.9", "decision": "approve", "reason": "looks fine"}
        )
        assert "requires an operator's token" in refused(no_person)


async def test_what_is_ordered_is_a_dry_run_or_waits_for_a_person():
    seen = []
    async with Client(create_mcp_server(RestApi(sent(seen), "s3cret"))) as client:
        for tool in ("plan_dry_run", "order_review_run", "check_after_reboot"):
            await client.call_tool(tool, {"host": "web-1"})
        answer = {"approval": "r.V-1.1.9", "decision": "refuse", "reason": "not today"}
        said(await client.call_tool("answer_approval", answer))
        wrong = await client.call_tool("answer_approval", {**answer, "decision": "edit"})
        assert wrong.is_error
    assert [body["mode"] for _, path, body, _ in seen if path == "/api/v1/runs"] == ["dry-run", "review", "scan"]
    assert {headers["authorization"] for *_, headers in seen} == {"Bearer s3cret"}
    assert seen[-1][1:3] == ("/api/v1/approvals/r.V-1.1.9", {"decision": "refuse", "reason": "not today", "by": "mcp"})


async def test_a_rollout_is_started_and_followed_with_the_rights_of_the_token(tmp_path):
    async with house(tmp_path / "data", sign_in=True) as made:
        owner, viewer = issue_tokens(made)
        order = {"hosts": ["fixture", "fixture-2"], "waves": ["1", "rest"], "rules": STIG[:1]}
        async with Client(create_mcp_server(RestApi(made.http, viewer))) as client:
            assert "operator" in refused(await client.call_tool("order_review_rollout", order))
        async with Client(create_mcp_server(RestApi(made.http, owner))) as client:
            rollout = said(await client.call_tool("order_review_rollout", order))["id"]
            wrong = refused(await client.call_tool("order_review_rollout", {**order, "hosts": ["nowhere"]}))
        async with Client(create_mcp_server(RestApi(made.http, viewer))) as client:
            seen = said(await client.call_tool("show_rollout", {"rollout": rollout}))
            gone = refused(await client.call_tool("show_rollout", {"rollout": "0a1b"}))
    assert (seen["mode"], seen["by"], [part["host"] for part in seen["parts"]]) == ("review", "ada", order["hosts"])
    assert "nowhere" in wrong
    assert "0a1b" in gone


def issue_tokens(made):
    """The secrets of an operator's and of a viewer's token of one person."""
    with Session(made.database) as session, session.begin():
        session.add(PersonRow(name="ada", right="operator", made_at=1.0))
        session.flush()
        return [
            issued_credentials.issue_credential(
                session, person="ada", right=right, kind="token", label="", seconds=60.0
            )[1]
            for right in ("operator", "viewer")
        ]


async def test_whatever_the_inbox_lists_is_answered_with_the_rights_of_the_token(tmp_path):
    async with house(tmp_path / "data", sign_in=True) as made:
        owner, viewer = issue_tokens(made)
        made.append("r1", *ASKED, asks())
        begin(made, "r2", STIG[0])
        end = {"passed": 0, "escalated": 1, "skipped": 0, "deferred": 0, "regressions": (), "tree": ""}
        left = ItemStarted(rule=STIG[0], title="", category="I"), ItemEscalated(rule=STIG[0], reason="no way")
        made.append("r2", *left, RunFinished(**end))
        made.append(
            "r3", msgspec.structs.replace(QUEUED, host="fixture-2", mode="auto"), EVENTS[1], RunFailed(reason="x")
        )

        async with Client(create_mcp_server(RestApi(made.http, viewer))) as client:
            listed = said(await client.call_tool("list_inbox", {}))["decisions"]
            answer = {"decision": f"approval:{WAITING}", "answer": "approve", "reason": "read it"}
            assert "an operator answers this" in refused(await client.call_tool("answer_decision", answer))
        ids = {one["kind"]: one["id"] for one in listed}
        assert set(ids) == {"approval", "escalated", "host"}

        async with Client(create_mcp_server(RestApi(made.http, owner))) as client:

            async def give(kind, verb):
                words = {"decision": ids[kind], "answer": verb, "reason": "not today"}
                return await client.call_tool("answer_decision", words)

            assert said(await give("approval", "refuse"))["decision"] == "refuse"
            assert "choose one of approve, refuse" in refused(await give("approval", "edit"))
            assert "Nothing in the inbox" in refused(
                await client.call_tool("answer_decision", answer | {"decision": "host:gone"})
            )
            said(await give("host", "again"))
            first = made.submitted[-1]
            assert (first.host, first.mode, first.note, first.by) == ("fixture-2", "review", "not today", "ada")
            waived = {"rule": STIG[0], "host": "fixture", "owner": "Ops", "reason": "old client", "until": "2027-06-01"}
            assert said(await client.call_tool("add_waiver", waived))["owner"] == "Ops"


async def test_answers_go_to_the_address_that_the_inbox_names():
    seen = []
    answers = [
        {"verb": "resume", "address": "/api/v1/rollouts/o1/resume", "body": {}, "reason": "optional", "denied": ""},
        {"verb": "end", "address": "/api/v1/waivers/w1/end", "body": {}, "reason": "required", "denied": ""},
        {"verb": "review", "address": "/api/v1/runs", "body": {"rules": ["V-1"]}, "reason": "no", "denied": ""},
    ]

    def answer(request):
        seen.append((request.url.path, json.loads(request.content or b"null")))
        return httpx.Response(200, json={"via": "token", "decisions": [{"id": "d", "answers": answers}]})

    http = httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url="http://temper")
    async with Client(create_mcp_server(RestApi(http, "s3cret"))) as client:
        for verb in ("resume", "end", "review"):
            said(await client.call_tool("answer_decision", {"decision": "d", "answer": verb, "reason": "fine"}))
    assert [one for one in seen if one[1]] == [
        ("/api/v1/rollouts/o1/resume", {"reason": "fine", "by": "mcp"}),
        ("/api/v1/waivers/w1/end", {"reason": "fine"}),
        ("/api/v1/runs", {"rules": ["V-1"], "note": "fine", "by": "mcp"}),
    ]


async def test_a_temper_that_is_away_is_a_sentence():
    def away(_):
        raise httpx.ConnectError("refused")

    http = httpx.AsyncClient(transport=httpx.MockTransport(away), base_url="http://temper")
    async with Client(create_mcp_server(RestApi(http))) as client:
        assert "Check that `temper serve` is running" in refused(await client.call_tool("list_hosts", {}))


async def test_it_speaks_over_stdio():
    command = StdioServerParameters(command=sys.executable, args=["-m", "app", "mcp", "--url", "http://127.0.0.1:9"])
    async with Client(command) as client:
        assert "list_hosts" in {tool.name for tool in (await client.list_tools()).tools}


def test_where_a_token_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("TEMPER_TOKEN", "one ")
    (tmp_path / "token").write_text("two\n")
    assert (read_secret("TEMPER_TOKEN"), read_secret(str(tmp_path / "token"))) == ("one", "two")
    with pytest.raises(BadInput, match="neither an environment variable nor a readable file"):
        read_secret(str(tmp_path / "none"))
    with pytest.raises(BadInput, match="each caller sends their own token"):
        serve_mcp("http://127.0.0.1:8000", "TEMPER_TOKEN", 8123)
    with pytest.raises(BadInput, match="not an address of Temper"):
        serve_mcp("ftp://x", "", None)


@pytest.mark.parametrize(
    ("headers", "token"),
    [(None, "own"), ({}, ""), ({"authorization": "Bearer theirs"}, "theirs"), ({"authorization": "Basic x"}, "")],
)
def test_over_http_nobody_acts_by_the_token_of_whoever_started_it(headers, token):
    assert RestApi(sent([]), "own").read_token(SimpleNamespace(headers=headers)) == token
