"""Somebody's server with OpenAI's API, played at the wire: what it can do is seen by what it does."""

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from app.engines.chat_question_and_reply_types import ServerDialect
from app.engines.client import EngineClient
from app.engines.conformance import check_conformance
from app.engines.server_capabilities import ASSUMED_CONTEXT, LONG_CONTEXT, append_v1_unless_present, inspect_endpoint
from app.errors import EngineDied, EngineRefused, EngineStalled

BASE = "http://server:8080/v1"
STREAM = {"content-type": "text/event-stream"}


@dataclass
class Server:
    """A server that binds answers to a schema, ignores it, refuses it or fails, and may say how long its context is."""

    models: list[dict] = field(default_factory=lambda: [{"id": "m-7b", "owned_by": "somebody"}])
    schema: str = "binds"
    dead: bool = False
    too_long: str = ""
    usage: bool = True
    usage_each: bool = False
    thought: str = ""
    key: str = ""
    paths: dict[str, dict] = field(default_factory=dict)
    bodies: list[dict] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.key and request.headers.get("authorization") != f"Bearer {self.key}":
            return httpx.Response(401, json={"error": {"message": "who are you"}})
        path = request.url.path
        if path == "/v1/models":
            return httpx.Response(200, json={"data": self.models})
        if path in self.paths:
            return httpx.Response(200, **self.paths[path])
        if path != "/v1/chat/completions":
            return httpx.Response(404, json={"error": "no"})
        body = json.loads(request.content)
        self.bodies.append(body)
        if self.too_long and len(body["messages"][0]["content"]) > 10_000:
            return httpx.Response(400, json={"error": {"message": self.too_long}})
        UUID(request.headers["x-request-id"])  # llama-cpp-python refuses any other
        bound = "response_format" in body
        if self.schema == "older form" and bound:
            bound = body["response_format"] == {"type": "json_object", "schema": body["response_format"].get("schema")}
            if not bound:
                return httpx.Response(500, json={"error": {"message": "Input should be 'text' or 'json_object'"}})
        if bound and self.schema == "refuses":
            return httpx.Response(400, json={"error": {"message": "response_format is unknown here"}})
        if bound and self.schema == "fails in the stream":
            error = json.dumps({"error": {"message": "", "type": "InternalServerError", "code": 500}})
            return httpx.Response(200, headers=STREAM, text=f"data: {error}\n\ndata: [DONE]\n\n")
        if bound and self.schema in ("fails", "dies"):
            self.dead = self.schema == "dies"
            return httpx.Response(500, json={"error": {"message": "No module named 'outlines_core'"}})
        if self.dead:
            return httpx.Response(500, json={"error": {"message": "EngineCore encountered an issue"}})
        return self.stream('{"word": "temper"}' if bound and self.schema in ("binds", "older form") else "hello")

    def stream(self, text: str) -> httpx.Response:
        chunks: list[dict] = [{"choices": [{"delta": {"reasoning": self.thought}}]}] if self.thought else []
        chunks += [{"choices": [{"delta": {"content": piece}}]} for piece in (text[:2], text[2:])]
        chunks.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        if self.usage_each:
            chunks = [one | {"usage": {"prompt_tokens": 9, "completion_tokens": n}} for n, one in enumerate(chunks, 1)]
        chunks += [{"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 5}}] if self.usage else []
        lines = "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + "data: [DONE]\n\n"
        return httpx.Response(200, headers=STREAM, text=lines)


async def inspect(server: Server, **how):
    async with httpx.AsyncClient(transport=httpx.MockTransport(server)) as http:
        return await inspect_endpoint(http, BASE, **how)


async def test_no_request_has_a_field_that_a_hosted_server_would_refuse():
    server = Server()
    await inspect(server)
    known = {"model", "messages", "max_tokens", "temperature", "stream", "stream_options", "response_format"}
    assert set().union(*server.bodies) == known
    assert all(body["stream_options"] == {"include_usage": True} for body in server.bodies)


@pytest.mark.parametrize(("schema", "bound", "why"), [("binds", True, ""), ("ignores", False, "accepted and ignored")])
async def test_a_schema_counts_only_if_the_answer_is_bound_to_it(schema, bound, why):
    report = await inspect(Server(schema=schema))
    assert report.structured is bound
    assert why in report.structured_detail


async def test_a_server_that_takes_schemas_in_the_older_form_alone_is_asked_in_it():
    report = await inspect(Server(schema="older form"))
    assert (report.structured, report.schema_form, report.structured_detail) == (True, "json_object", "")
    assert report.dialect == ServerDialect(extensions=False, schema_form="json_object")


async def test_a_server_that_refuses_the_schema_is_used_without():
    report = await inspect(Server(schema="refuses"))
    assert (report.structured, "response_format is unknown here" in report.structured_detail) == (False, True)
    assert any("by an example" in without for _, _, without in report.rows)


@pytest.mark.parametrize(
    ("schema", "why"), [("fails", "No module named 'outlines_core'"), ("fails in the stream", "InternalServerError")]
)
async def test_a_server_that_fails_at_the_schema_alone_is_used_without(schema, why):
    report = await inspect(Server(schema=schema))
    assert not report.structured
    assert why in report.structured_detail
    assert any(why in note for _, _, note in report.rows), "the report says why"


async def test_a_server_that_dies_of_the_schema_is_not_used():
    with pytest.raises(EngineDied, match="EngineCore encountered an issue"):
        await inspect(Server(schema="dies"))


@pytest.mark.parametrize(
    ("said", "context"),
    [
        ("Requested tokens (40010) exceed context window of 2048", 2048),
        ("This model's maximum context length is 16384 tokens. However, you requested 40001", 16384),
        ("the request exceeds the available context size (4096 tokens), try increasing it", 4096),
        ("too long", ASSUMED_CONTEXT),
    ],
)
async def test_the_context_is_read_off_the_refusal_of_a_prompt_that_is_too_long(said, context):
    assert (await inspect(Server(too_long=said))).context == context


async def test_a_context_that_the_list_of_models_has_is_not_asked_for():
    server = Server(models=[{"id": "m", "max_model_len": 6000}])
    assert (await inspect(server)).context == 6000
    assert max(len(str(body["messages"])) for body in server.bodies) < 1000
    assert (await inspect(Server())).context == LONG_CONTEXT


async def test_programs_are_known_by_what_they_say_of_themselves():
    ollama = Server(paths={"/api/version": {"json": {"version": "0.9.1"}}})
    assert (await inspect(ollama)).program == "Ollama 0.9.1"
    vllm = Server(models=[{"id": "m", "owned_by": "vllm"}], paths={"/version": {"json": {"version": "0.25.1"}}})
    assert (await inspect(vllm)).program == "vLLM 0.25.1"
    assert (await inspect(Server(models=[{"id": "m", "owned_by": "me"}]))).program == "llama-cpp-python"
    hostile = Server(paths={"/api/version": {"json": {"version": "\x1b[2J" + "x" * 999}}})
    assert (await inspect(hostile)).program == f"Ollama {'x' * 52}…"


async def test_counts_thoughts_and_metrics_are_what_was_seen():
    assert (await inspect(Server())).counts == "at the end"
    assert (await inspect(Server(usage_each=True))).counts == "with each piece"
    report = await inspect(Server(usage=False))
    assert (report.counts, report.thoughts, report.metrics) == ("none", "none seen", False)
    metrics = {"text": 'vllm:generation_tokens_total{a="b"} 4\nvllm:num_requests_running{a="b"} 0\n'}
    report = await inspect(Server(thought="hm", paths={"/metrics": metrics}))
    assert (report.counts, report.thoughts, report.metrics) == ("at the end", "a field of their own", True)


async def test_a_server_that_breaks_an_answer_off_when_another_request_comes_is_seen():
    """As llama-cpp-python's server does, unless it is told not to."""
    open_requests = 0

    async def serve(request: httpx.Request) -> httpx.Response:
        nonlocal open_requests
        answer = Server()(request)
        if b"Say the number" not in request.content:
            return answer
        open_requests += 1
        number = open_requests
        await asyncio.sleep(0)  # the others come meanwhile
        return answer if number == open_requests else httpx.Response(200, headers=STREAM, text="")

    async with httpx.AsyncClient(transport=httpx.MockTransport(serve)) as http:
        report = await inspect_endpoint(http, BASE)
    assert not report.several
    assert ("3 requests at once", "no", "roles wait for each other") in report.rows
    assert (await inspect(Server())).several


async def test_a_fault_of_ones_own_is_not_taken_for_an_answer():
    def play(request: httpx.Request) -> httpx.Response:
        if b"Say the number 1" in request.content:
            raise ValueError("our own")
        return Server()(request)

    async with httpx.AsyncClient(transport=httpx.MockTransport(play)) as http:
        with pytest.raises(ValueError, match="our own"):
            await inspect_endpoint(http, BASE)


async def test_a_model_is_chosen_by_its_name_and_a_missing_one_is_named():
    server = Server(models=[{"id": "a"}, {"id": "b:latest"}])
    assert (await inspect(server)).model == "a"
    assert (await inspect(server, model="b")).model == "b:latest"
    with pytest.raises(EngineRefused, match=r"does not serve 'c'. It serves: a, b:latest"):
        await inspect(server, model="c")
    with pytest.raises(EngineRefused, match="load one there first"):
        await inspect(Server(models=[]))


async def test_a_server_with_a_key_is_asked_with_it():
    assert (await inspect(Server(key="k"), key="k")).model == "m-7b"
    with pytest.raises(EngineRefused, match="wants an API key"):
        await inspect(Server(key="k"))


@pytest.mark.parametrize("address", ["http://server:8080", "http://server:8080/", "http://server:8080/v1", f"{BASE}/"])
def test_an_address_may_be_written_with_v1_or_without(address):
    assert append_v1_unless_present(address) == BASE


async def test_the_table_of_checks_says_what_holds_and_what_temper_does_without():
    server = Server(schema="ignores", usage=False)
    async with httpx.AsyncClient(transport=httpx.MockTransport(server)) as http:
        report = await inspect_endpoint(http, BASE)
        client = EngineClient(http, BASE, dialect=ServerDialect(extensions=False, structured=False))
        checks = {one.name: one async for one in check_conformance(client, report)}
    failed = {name for name, one in checks.items() if not one.passed}
    assert failed == {
        "binds answers to a JSON Schema",
        "counts tokens",
        "has metrics",
        "ends an answer at max_tokens",
        "refuses a model that it does not have",
    }
    assert all(checks[name].without for name in failed)
    assert checks["streams an answer in pieces"].is_needed


async def test_a_context_that_the_server_states_is_stated_even_if_it_is_the_one_that_would_be_assumed():
    server = Server(models=[{"id": "m", "max_model_len": ASSUMED_CONTEXT}])
    async with httpx.AsyncClient(transport=httpx.MockTransport(server)) as http:
        report = await inspect_endpoint(http, BASE)
        client = EngineClient(http, BASE, dialect=ServerDialect(extensions=False))
        checks = {one.name: one async for one in check_conformance(client, report)}
    assert checks["says how long its context is"].passed


RECORDED = Path(__file__).parents[1] / "data"


async def test_llama_cpp_counts_the_parameters_of_a_model_whose_name_does_not():
    [card] = json.loads((RECORDED / "llamacpp/models.json").read_text())["data"]
    report = await inspect(Server(models=[card | {"id": "stig"}]))
    assert report.billions == 0.134515008
    assert ("size", "135 million parameters", "the server's list of models says so") in report.rows


async def test_sglang_names_the_files_of_a_model_that_it_serves_under_another_name():
    models = json.loads((RECORDED / "sglang/models.json").read_text().replace("smollm2-135m", "stig"))["data"]
    info = json.loads((RECORDED / "sglang/server_info.json").read_text())
    assert info["model_path"] == "/srv/models/smollm2-135m"
    report = await inspect(Server(models=models, paths={"/server_info": {"json": info}}))
    assert (report.model, report.billions) == ("stig", 0.135)


async def test_vllm_names_the_model_that_it_serves_under_another_name():
    card = {"id": "stig", "owned_by": "vllm", "root": "Qwen/Qwen3-0.6B"}
    assert (await inspect(Server(models=[card]))).billions == 0.6


async def test_ollama_has_the_size_in_its_own_list():
    tags = {"models": [{"name": "stig:latest", "details": {"parameter_size": "134.52M"}}, {"name": "other"}]}
    paths = {"/api/version": {"json": {"version": "0.20.0"}}, "/api/tags": {"json": tags}}
    report = await inspect(Server(models=[{"id": "stig:latest", "owned_by": "library"}], paths=paths))
    assert report.billions == 0.13452
    paths["/api/tags"] = {"text": "[]"}
    report = await inspect(Server(models=[{"id": "stig:latest", "owned_by": "library"}], paths=paths))
    assert report.billions is None
    assert any(row[:2] == ("size", "unknown") and "guided = true" in row[2] for row in report.rows)


async def test_a_name_that_has_the_size_needs_no_other_source():
    report = await inspect(Server(models=[{"id": "m-7b", "owned_by": "vllm", "root": "/srv/models/x-135m"}]))
    assert report.billions == 7


async def test_a_machine_that_is_too_busy_for_a_short_answer_is_named_as_the_cause(monkeypatch):
    monkeypatch.setattr("app.engines.server_capabilities.ANSWER_SECONDS", 0.01)

    async def answer(request):
        if request.url.path == "/v1/models":
            return httpx.Response(200, json={"data": [{"id": "m-7b"}]})
        return await asyncio.Event().wait()

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        with pytest.raises(EngineStalled, match=r"its machine is busy or too slow\. Try again when it is idle"):
            await inspect_endpoint(http, BASE)
