"""Tokens a second of one stream through a turn, as a ratio to a bare client reading the same stream in the same run.

    python bench/turn_speed.py [BASE_URL MODEL] [--tokens 512] [--rounds 5] [--write]

BASE_URL ends in /v1. Without it the simulator is started, at twenty times the measured pace: 302 tok/s.
The turn is the product's own: every delta is cleaned, chained and written to a database. The bare client is httpx
and a split on newlines. They take turns, and both count tokens from usage. The aim is a ratio of at least 0.98.
--write puts the table into docs/measurements/.
"""

import argparse
import asyncio
import json
import secrets
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median

import httpx
import msgspec
from note import versions, write_note

from app.engines.chat_question_and_reply_types import Question
from app.engines.chat_request_and_reply_encoding import build_request_body, build_request_headers_without_key
from app.engines.client import EngineClient
from app.engines.simulator_process import run_simulator
from app.events.bus import Bus
from app.events.log_writer import LogWriter, RunLog
from app.lineups.reader import require_lineup_path
from app.loop.turn_streaming import TurnName, stream_turn
from app.machine.measuring.probe import create_question
from app.machine.measuring.probe_load_steps import ProbeStep
from app.store.db import open_and_migrate_database
from app.store.events import EventStore

PACE = 20.0
ENGINE, PLAYED = "gemma-31b", "nvidia/Gemma-4-31B-IT-NVFP4"
NAME = TurnName("bench.1", "architect", "plan")
AIM = 0.98
PATIENCE = 600.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("base_url", nargs="?")
    parser.add_argument("model", nargs="?")
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    if asked.base_url and not asked.model:
        parser.error("name the model too, as the server calls it")
    lines = asyncio.run(measured(asked))
    print("\n".join(lines))
    if asked.write:
        write(lines, asked)


async def measured(asked: argparse.Namespace) -> list[str]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        http = await stack.enter_async_context(httpx.AsyncClient(timeout=PATIENCE))
        base, model = asked.base_url, asked.model
        if base is None:
            base, model = await stack.enter_async_context(played(folder, http)), PLAYED
        log = await stack.enter_async_context(logged(folder))
        step = ProbeStep(1, asked.tokens)
        await bare(http, base, made(model, ProbeStep(1, 16)))
        pairs = []
        for _ in range(asked.rounds):
            alone = await bare(http, base, made(model, step))
            pairs.append((alone, await turn(http, base, made(model, step), log)))
    return table(pairs)


def made(model: str, step: ProbeStep) -> Question:
    return create_question(model, step, 0, secrets.token_hex(4))


async def bare(http: httpx.AsyncClient, base: str, asked: Question) -> float:
    first: tuple[float, int] | None = None
    last, rest = (0.0, 0), b""
    content = msgspec.json.encode(build_request_body(asked))
    async with http.stream(
        "POST", f"{base}/chat/completions", content=content, headers=build_request_headers_without_key(asked)
    ) as answer:
        answer.raise_for_status()
        async for data in answer.aiter_bytes():
            now = time.monotonic()
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                if not line.startswith(b"data: {"):
                    continue
                tokens = (json.loads(line[6:]).get("usage") or {}).get("completion_tokens", 0)
                if tokens > last[1]:
                    last = (now, tokens)
                    first = first or last
    assert first, "no usage came: the server does not heed stream_options"
    return (last[1] - first[1]) / (last[0] - first[0])


async def turn(http: httpx.AsyncClient, base: str, asked: Question, log: RunLog) -> float:
    client = EngineClient(http, base)
    end = await stream_turn(NAME, client, asked, log, seconds=PATIENCE, stall_after=PATIENCE)
    assert end.outcome == "answered", end.detail
    log.append(end)
    assert end.decode_rate
    return end.decode_rate


@asynccontextmanager
async def logged(folder: Path) -> AsyncIterator[RunLog]:
    database = open_and_migrate_database(folder / "temper.sqlite")
    writer = LogWriter(EventStore(database), Bus())
    writer.start()
    try:
        yield RunLog("bench", writer)
    finally:
        await writer.close()
        database.dispose()


@asynccontextmanager
async def played(folder: Path, http: httpx.AsyncClient) -> AsyncIterator[str]:
    async with run_simulator(require_lineup_path("simulated"), [ENGINE], PACE, folder / "simulator.log") as simulator:
        base = simulator.bases[ENGINE][0]
        while not await EngineClient(http, base).is_ready(PLAYED):  # noqa: ASYNC110  another process gets ready
            await asyncio.sleep(0.05)
        yield base


def table(pairs: list[tuple[float, float]]) -> list[str]:
    rows = [f"| {alone:.1f} | {through:.1f} | {through / alone:.3f} |" for alone, through in pairs]
    ratio = median(through / alone for alone, through in pairs)
    met = "met" if ratio >= AIM else "missed"
    return [
        "| bare tok/s | turn tok/s | turn ÷ bare |",
        "|---|---|---|",
        *rows,
        "",
        f"Median of {len(pairs)} rounds: **{ratio:.3f}** (aim {AIM}: {met}).",
    ]


def write(lines: list[str], asked: argparse.Namespace) -> None:
    engine = f"{asked.model or f'the simulator at ×{PACE:g}'}, {asked.tokens} tokens an answer"
    title = "One stream through a turn, beside a bare client"
    write_note("turn_speed", title, "", lines, versions("httpx", "msgspec", "sqlalchemy"), engine)


if __name__ == "__main__":
    main()
