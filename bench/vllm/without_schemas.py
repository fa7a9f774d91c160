"""A proxy for a model server that drops what binds an answer to a shape, as servers do that do not know it.

    python bench/vllm/without_schemas.py BASE_URL PORT

BASE_URL ends in /v1. What the proxy is asked for goes there, less `response_format`, `structured_outputs`, and fields
that begin with `guided_`. To a client it is a server that accepts a JSON Schema and ignores it.
"""

import json
import sys
from collections.abc import AsyncIterator

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

_DROPPED = ("response_format", "structured_outputs")
_KEPT = ("content-type", "authorization")


def drop_shape(content: bytes) -> bytes:
    if not content:
        return content
    asked = json.loads(content)
    return json.dumps({k: v for k, v in asked.items() if k not in _DROPPED and not k.startswith("guided_")}).encode()


def create_proxy(base: str) -> Starlette:
    http, root = httpx.AsyncClient(timeout=600, limits=httpx.Limits(max_connections=256)), base.removesuffix("/v1")

    async def forward(request: Request) -> StreamingResponse:
        headers = {name: value for name, value in request.headers.items() if name in _KEPT}
        content = drop_shape(await request.body())
        asked = http.build_request(request.method, root + request.url.path, headers=headers, content=content)
        answer = await http.send(asked, stream=True)

        async def pass_on() -> AsyncIterator[bytes]:
            try:
                async for data in answer.aiter_raw():
                    yield data
            finally:
                await answer.aclose()

        kept = {name: value for name, value in answer.headers.items() if name in _KEPT}
        return StreamingResponse(pass_on(), answer.status_code, kept)

    return Starlette(routes=[Route("/{path:path}", forward, methods=["GET", "POST"])])


if __name__ == "__main__":
    uvicorn.run(create_proxy(sys.argv[1]), host="127.0.0.1", port=int(sys.argv[2]), log_level="warning")
