"""vLLM's endpoints for one simulated engine, and the simulator's own ones."""

import uuid

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from app.engines.simulator import chunks, to_schema
from app.engines.simulator.chunks import Chunks
from app.engines.simulator.engine import SimulatedEngine
from app.engines.simulator.faults import SimFault, listing
from app.engines.simulator.reply import ChatRequest, StreamOptions, make_reply
from app.engines.simulator.stream import DEATH, Sending

VERSION = "0.25.1+temper.simulated"


class _Refused(Exception):
    def __init__(self, status: int, kind: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.error = chunks.error(status, kind, message, param)
        self.answer: Response = Json(self.error, status)


class Json(Response):
    media_type = "application/json"

    def __init__(self, content: object, status: int = 200) -> None:
        super().__init__(msgspec.json.encode(content), status)


def create_app(engine: SimulatedEngine) -> Starlette:
    server = _Server(engine)
    return Starlette(
        routes=[
            Route("/health", server.health),
            Route("/version", server.version),
            Route("/load", server.load),
            Route("/metrics", server.metrics),
            Route("/v1/models", server.models),
            Route("/v1/chat/completions", server.chat, methods=["POST"]),
            Route("/simulator/log", server.log),
            Route("/simulator/gpus", server.gpus),
            Route("/simulator/most", server.most),
            Route("/simulator/faults", server.faults, methods=["GET", "POST", "DELETE"]),
        ],
        exception_handlers={_Refused: _refused},
    )


async def _refused(_request: Request, exc: Exception) -> Response:
    return exc.answer if isinstance(exc, _Refused) else Response(status_code=500)


def _expect_grammar(asked: ChatRequest) -> None:
    if asked.json_schema is None:
        return
    try:
        to_schema.check(asked.json_schema.schema_)
    except to_schema.BadSchema as exc:
        refused = _Refused(400, "BadRequestError", f"Grammar error: {exc}")
        if asked.stream:  # vLLM compiles the grammar after the response has begun, so the refusal is a chunk
            refused.answer = Response(chunks.event(refused.error) + chunks.DONE, media_type="text/event-stream")
        raise refused from exc


class _Server:
    def __init__(self, engine: SimulatedEngine) -> None:
        self._engine = engine

    async def health(self, _request: Request) -> Response:
        return Response(status_code=self._engine.health())

    async def version(self, _request: Request) -> Response:
        return Json({"version": VERSION, "simulated": True})

    async def load(self, _request: Request) -> Response:
        return Json({"server_load": len(self._engine.active)})

    async def metrics(self, _request: Request) -> Response:
        return PlainTextResponse(self._engine.metrics())

    async def models(self, _request: Request) -> Response:
        self._expect_ready()
        engine = self._engine.engine
        card = {"id": engine.model, "object": "model", "owned_by": "temper-simulator", "root": engine.model}
        return Json({"object": "list", "data": [{**card, "parent": None, "max_model_len": engine.max_model_len}]})

    async def log(self, _request: Request) -> Response:
        return PlainTextResponse("".join(f"{line}\n" for line in self._engine.log))

    async def gpus(self, _request: Request) -> Response:
        return Json(self._engine.gpus())

    async def most(self, _request: Request) -> Response:
        """Return the most concurrent requests and KV tokens so far."""
        engine = self._engine
        return Json({"simulated": True, "requests": engine.most_requests, "kv_tokens": engine.most_tokens})

    async def faults(self, request: Request) -> Response:
        faults = self._engine.faults
        if request.method == "DELETE":
            faults.waiting.clear()
        elif request.method == "POST":
            try:
                faults.waiting.append(msgspec.json.decode(await request.body(), type=SimFault))
            except (msgspec.DecodeError, UnicodeDecodeError) as exc:
                raise _Refused(400, "BadRequestError", f"This is not a fault: {exc}") from exc
        return Json(listing(faults))

    async def chat(self, request: Request) -> Response:
        self._expect_ready()
        asked = await self._read(request)
        room = self._room(asked)
        fault = self._engine.faults.take(asked.role, asked.purpose)
        if fault and fault.kind == "503":
            raise _Refused(503, "ServiceUnavailableError", "The queue is full. This fault was asked for.")
        request_id = f"chatcmpl-{request.headers.get('x-request-id') or uuid.uuid4().hex}"
        reply = make_reply(self._engine.script, asked, fault, room)
        sending = Sending(self._engine, reply, fault, request_id)
        if asked.stream:
            options = asked.stream_options or StreamOptions()
            each = options.include_usage and options.continuous_usage_stats
            wire = Chunks(request_id, asked.model, reply.prompt_tokens, options.include_usage, each)
            return StreamingResponse(sending.stream(wire), media_type="text/event-stream")
        if not await sending.whole():
            return Json(DEATH, 500)
        return Json(chunks.whole(request_id, asked.model, reply))

    def _expect_ready(self) -> None:
        if self._engine.state == "loading":
            raise _Refused(503, "ServiceUnavailableError", "The engine is loading.")
        if self._engine.state == "dead":
            raise _Refused(500, "InternalServerError", "The engine is dead.")

    async def _read(self, request: Request) -> ChatRequest:
        try:
            asked = msgspec.json.decode(await request.body(), type=ChatRequest)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            raise _Refused(400, "Bad Request", f"1 validation error: {exc}") from exc
        if asked.model != self._engine.engine.model:
            raise _Refused(404, "NotFoundError", f"The model `{asked.model}` does not exist.", "model")
        _expect_grammar(asked)
        return asked

    def _room(self, asked: ChatRequest) -> int:
        """Return the tokens left for the answer. Raise if the request exceeds the context."""
        length, prompt, limit = self._engine.engine.max_model_len, asked.prompt_tokens, asked.token_limit
        maximum = f"This model's maximum context length is {length} tokens."
        if not asked.messages:
            raise _Refused(400, "BadRequestError", "Cannot apply chat template to an empty conversation.")
        if limit is not None and limit < 1:
            raise _Refused(400, "BadRequestError", f"max_tokens must be at least 1, got {limit}.", "max_tokens")
        if prompt >= length:
            reason = f"However, your request has {prompt} input tokens. Please reduce the length of the input messages."
            raise _Refused(400, "BadRequestError", f"{maximum} {reason}", "input_tokens")
        if limit is not None and limit > length - prompt:
            reason = f"{maximum} Your request has {prompt} input tokens ({limit} > {length} - {prompt})."
            raise _Refused(400, "BadRequestError", f"'max_tokens' is too large: {limit}. {reason}", "max_tokens")
        return length - prompt
