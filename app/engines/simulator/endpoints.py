"""vLLM's endpoints for one simulated engine, and the simulator's own ones."""

import uuid

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from app.engines.simulator import chunks, schema_fitter
from app.engines.simulator.chunks import ChunkEncoder
from app.engines.simulator.faults import SimulatedFault
from app.engines.simulator.reply_creation import ChatRequest, StreamOptions, create_reply
from app.engines.simulator.reply_sender import DEATH, ReplySender
from app.engines.simulator.simulated_engine import SimulatedEngine

VERSION = "0.25.1+temper.simulated"


class _RequestRefused(Exception):
    def __init__(self, status: int, kind: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.error = chunks.build_error(status, kind, message, param)
        self.answer: Response = JsonResponse(self.error, status)


class JsonResponse(Response):
    media_type = "application/json"

    def __init__(self, content: object, status: int = 200) -> None:
        super().__init__(msgspec.json.encode(content), status)


def create_app(engine: SimulatedEngine) -> Starlette:
    server = _Endpoints(engine)
    return Starlette(
        routes=[
            Route("/health", server.get_health),
            Route("/version", server.get_version),
            Route("/load", server.get_load),
            Route("/metrics", server.get_metrics),
            Route("/v1/models", server.get_models),
            Route("/v1/chat/completions", server.complete_chat, methods=["POST"]),
            Route("/simulator/log", server.get_log),
            Route("/simulator/gpus", server.get_gpus),
            Route("/simulator/most", server.get_peaks),
            Route("/simulator/faults", server.handle_faults, methods=["GET", "POST", "DELETE"]),
        ],
        exception_handlers={_RequestRefused: _answer_refusal},
    )


async def _answer_refusal(_request: Request, exc: Exception) -> Response:
    return exc.answer if isinstance(exc, _RequestRefused) else Response(status_code=500)


def _require_valid_grammar(chat_request: ChatRequest) -> None:
    if chat_request.json_schema is None:
        return
    try:
        schema_fitter.check_schema(chat_request.json_schema.schema_)
    except schema_fitter.BadSchema as exc:
        refused = _RequestRefused(400, "BadRequestError", f"Grammar error: {exc}")
        if chat_request.stream:  # vLLM compiles the grammar after the response has begun, so the refusal is a chunk
            refused.answer = Response(chunks.encode_event(refused.error) + chunks.DONE, media_type="text/event-stream")
        raise refused from exc


class _Endpoints:
    def __init__(self, engine: SimulatedEngine) -> None:
        self._engine = engine

    async def get_health(self, _request: Request) -> Response:
        return Response(status_code=self._engine.answer_health_check_with_status_code())

    async def get_version(self, _request: Request) -> Response:
        return JsonResponse({"version": VERSION, "simulated": True})

    async def get_load(self, _request: Request) -> Response:
        return JsonResponse({"server_load": len(self._engine.active)})

    async def get_metrics(self, _request: Request) -> Response:
        return PlainTextResponse(self._engine.render_metrics())

    async def get_models(self, _request: Request) -> Response:
        self._require_ready()
        engine = self._engine.engine
        card = {"id": engine.wire_name, "object": "model", "owned_by": "temper-simulator", "root": engine.model}
        data = [{**card, "parent": None, "max_model_len": engine.max_model_len}]
        return JsonResponse({"object": "list", "data": data})

    async def get_log(self, _request: Request) -> Response:
        return PlainTextResponse("".join(f"{line}\n" for line in self._engine.log))

    async def get_gpus(self, _request: Request) -> Response:
        return JsonResponse(self._engine.build_gpu_report())

    async def get_peaks(self, _request: Request) -> Response:
        """Return the most concurrent requests and KV tokens so far."""
        engine = self._engine
        return JsonResponse({"simulated": True, "requests": engine.most_requests, "kv_tokens": engine.most_tokens})

    async def handle_faults(self, request: Request) -> Response:
        faults = self._engine.faults
        if request.method == "DELETE":
            faults.waiting.clear()
        elif request.method == "POST":
            try:
                faults.waiting.append(msgspec.json.decode(await request.body(), type=SimulatedFault))
            except (msgspec.DecodeError, UnicodeDecodeError) as exc:
                raise _RequestRefused(400, "BadRequestError", f"This is not a fault: {exc}") from exc
        return JsonResponse({"simulated": True, "faults": faults.waiting})

    async def complete_chat(self, request: Request) -> Response:
        self._require_ready()
        asked = await self._read_request(request)
        room = self._compute_context_left_after_prompt(asked)
        fault = self._engine.faults.take_fault(asked.role, asked.purpose)
        if fault and fault.kind == "503":
            raise _RequestRefused(503, "ServiceUnavailableError", "The queue is full. This fault was asked for.")
        request_id = f"chatcmpl-{request.headers.get('x-request-id') or uuid.uuid4().hex}"
        reply = create_reply(self._engine.script, asked, fault, room)
        sending = ReplySender(self._engine, reply, fault, request_id)
        if asked.stream:
            options = asked.stream_options or StreamOptions()
            each = options.include_usage and options.continuous_usage_stats
            wire = ChunkEncoder(request_id, asked.model, reply.prompt_tokens, options.include_usage, each)
            return StreamingResponse(sending.iterate_stream_bytes(wire), media_type="text/event-stream")
        if not await sending.wait_out_reply_and_check_engine_survived():
            return JsonResponse(DEATH, 500)
        return JsonResponse(chunks.build_completion(request_id, asked.model, reply))

    def _require_ready(self) -> None:
        if self._engine.state == "loading":
            raise _RequestRefused(503, "ServiceUnavailableError", "The engine is loading.")
        if self._engine.state == "dead":
            raise _RequestRefused(500, "InternalServerError", "The engine is dead.")

    async def _read_request(self, request: Request) -> ChatRequest:
        try:
            asked = msgspec.json.decode(await request.body(), type=ChatRequest)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            raise _RequestRefused(400, "Bad Request", f"1 validation error: {exc}") from exc
        if asked.model != self._engine.engine.wire_name:
            raise _RequestRefused(404, "NotFoundError", f"The model `{asked.model}` does not exist.", "model")
        _require_valid_grammar(asked)
        return asked

    def _compute_context_left_after_prompt(self, chat_request: ChatRequest) -> int:
        """Return the tokens left for the answer. Raise if the request exceeds the context."""
        length, prompt, limit = self._engine.engine.max_model_len, chat_request.prompt_tokens, chat_request.token_limit
        maximum = f"This model's maximum context length is {length} tokens."
        if not chat_request.messages:
            raise _RequestRefused(400, "BadRequestError", "Cannot apply chat template to an empty conversation.")
        if limit is not None and limit < 1:
            raise _RequestRefused(400, "BadRequestError", f"max_tokens must be at least 1, got {limit}.", "max_tokens")
        if prompt >= length:
            reason = f"However, your request has {prompt} input tokens. Please reduce the length of the input messages."
            raise _RequestRefused(400, "BadRequestError", f"{maximum} {reason}", "input_tokens")
        if limit is not None and limit > length - prompt:
            reason = f"{maximum} Your request has {prompt} input tokens ({limit} > {length} - {prompt})."
            raise _RequestRefused(400, "BadRequestError", f"'max_tokens' is too large: {limit}. {reason}", "max_tokens")
        return length - prompt
