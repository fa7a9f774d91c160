"""`temper mcp`: serve MCP over stdio or HTTP."""

import asyncio

import httpx

from app.cli.mcp_server import RestApi, create_mcp_server
from app.cli.secret import read_secret
from app.errors import BadInput

_SECONDS = 120.0
"""Request timeout: a scan over SSH may take this long."""


def serve_mcp(url: str, token_from: str, port: int | None) -> None:
    if not url.startswith(("http://", "https://")):
        raise BadInput(f"{url[:80]!a} is no address of a Temper: it begins with http:// or https://.")
    if port and token_from:
        raise BadInput("over HTTP each caller brings a token of his own: leave --token-from out.")
    asyncio.run(_run_mcp_server(url, read_secret(token_from) if token_from else "", port))


async def _run_mcp_server(url: str, token: str, port: int | None) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=_SECONDS) as http:
        server = create_mcp_server(RestApi(http, token))
        if port:
            await server.run_streamable_http_async(host="127.0.0.1", port=port)
        else:
            await server.run_stdio_async()
