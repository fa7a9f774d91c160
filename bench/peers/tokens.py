"""The two ends of the token path, each a process: an engine that stamps its tokens, and Temper from there on.

python bench/peers/tokens.py engine RATE SECONDS
python bench/peers/tokens.py temper ENGINE_PORT VIEWERS FOLDER
"""

import asyncio
import json
import socket
import sys
import time
from pathlib import Path

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.engines.chat_question_and_reply_types import Question
from app.engines.client import EngineClient
from app.events.bus import Bus
from app.events.event_field_types import Budget
from app.events.kinds import RunQueued
from app.events.log_writer import LogWriter, RunLog
from app.loop.turn_streaming import TurnName, stream_turn
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.web.api.events import as_messages
from app.web.stream.stream_registry import StreamRegistry

RUN = "bench"


def chunk(text: str, tokens: int, reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": reason}
    usage = {"prompt_tokens": 10, "completion_tokens": tokens, "total_tokens": 10 + tokens}
    data = {"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [choice], "usage": usage}
    return b"data: " + json.dumps(data).encode() + b"\n\n"


async def engine(rate: float, seconds: float) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        began, sent, wanted = time.monotonic(), 0, int(rate * seconds)
        while sent < wanted:
            await asyncio.sleep(max(0.0, began + (sent + 1) / rate - time.monotonic()))
            due = min(wanted, int((time.monotonic() - began) * rate))
            while sent < due:
                sent += 1
                writer.write(chunk(f"<{time.monotonic_ns()}>", sent))
        writer.write(chunk("", sent, "stop") + b"data: [DONE]\n\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def temper(port: int, viewers: int, folder: Path) -> None:
    store, bus = EventStore(open_and_migrate_database(folder / "temper.sqlite")), Bus()
    writer = LogWriter(store, bus)
    writer.start()
    log = RunLog(RUN, writer)
    log.append(
        RunQueued(
            host="bench",
            skill="stig",
            rules=(),
            mode="auto",
            budget=Budget(),
            lineup="bench",
            simulated=True,
            keep=True,
        )
    )
    await writer.flush()
    streams, all_there = StreamRegistry(bus, store), asyncio.Event()

    async def stream(_: Request) -> Response:
        if streams.viewers + 1 >= viewers:
            all_there.set()
        return streams.create_stream_response(RUN, "json", as_messages)

    async def turn() -> None:
        await all_there.wait()
        await asyncio.sleep(0.5)
        async with httpx.AsyncClient() as http:
            question = Question(
                model="m", messages=(), schema_name="x", schema={}, max_tokens=10**6, temperature=0.0, request_id="x"
            )
            client = EngineClient(http, f"http://127.0.0.1:{port}/v1")
            done = await stream_turn(TurnName("t", "worker", "act"), client, question, log, seconds=600, stall_after=60)
        print(done.outcome, done.detail, flush=True)

    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    server = uvicorn.Server(
        uvicorn.Config(Starlette(routes=[Route("/sub", stream)]), log_level="warning", lifespan="off")
    )
    print(listener.getsockname()[1], flush=True)
    task = asyncio.create_task(turn())
    await server.serve(sockets=[listener])
    await task


if __name__ == "__main__":
    if sys.argv[1] == "engine":
        asyncio.run(engine(float(sys.argv[2]), float(sys.argv[3])))
    else:
        asyncio.run(temper(int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])))
