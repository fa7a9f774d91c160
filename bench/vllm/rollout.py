"""Built-in hosts by one rollout on a real vLLM, beside a bare client that asks it the same questions in the same run.

    python bench/vllm/rollout.py BASE_URL MODEL OUT.json [--hosts 8] [--rules A,B] [--attempts 2] [--guided] [--times 2]

BASE_URL ends in /v1. Start the server with VLLM_SERVER_DEV_MODE=1: before each round its prefix cache is emptied.

Three rounds. Temper: a rollout over so many hosts, all at once, with all four roles on this engine. Bare: each host's
questions, word for word and one after the other, from a client that is httpx and a split on newlines. Salted: the same,
but every prompt begins with something of its own, so that nothing equal stands first. What the cache had is from the
engine's own counters, as are running, waiting and preempted requests; tokens are from usage. OUT.json is written anew
after each round. Of Temper's it says what its hosts did while they asked nothing, too: seconds between one answer and
the next question, by what was asked before and then.
"""

import argparse
import asyncio
import json
import secrets
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

import httpx
from sqlmodel import Session

from app.background.rollouts.rollout_controller import RolloutController
from app.cli.runtime_opening import open_runtime
from app.config import Settings
from app.engines.client import EngineClient
from app.engines.engine_metrics import EngineSample
from app.errors import EngineError
from app.events.event_field_types import Budget
from app.events.kinds import RolloutHostBegun, TurnFinished, TurnStarted
from app.lineups.model import Lineup
from app.lineups.reader import read_lineup
from app.runs.order import Order
from app.runs.rollout.rollout_request import RolloutSpec, RolloutTerms, create_rollout_request
from app.runs.rollout.rollout_state import fold_rollout
from app.runs.rollout.rollout_submission_and_commands import create_random_rollout_id, submit_rollout
from app.runtime.runtime import Runtime
from app.store.rollouts import read_rollout_events

RULES = "V-258069,V-257984,V-257820"
ROLES = ("architect", "worker", "auditor", "sentry")
LOOK_EVERY = 0.2
PATIENCE = 600.0
T = TypeVar("T")


@dataclass(frozen=True)
class Answer:
    """One request, by the client's clock."""

    host: str
    began: float
    ended: float
    prompt: int
    tokens: int
    finish: str
    outcome: str = ""
    """What Temper made of it."""
    purpose: str = ""


@dataclass
class Engine:
    """The engine while a round goes on: what it reported at most."""

    client: EngineClient
    running: int = 0
    waiting: int = 0
    kv_used: float = 0.0
    promised: int = 0
    """Tokens that the requests at work could come to hold by Temper's reckoning."""
    looks: list[EngineSample] = field(default_factory=list)

    async def look(self) -> None:
        sample = await self.client.read_sample()
        self.looks.append(sample)
        self.running, self.waiting = max(self.running, sample.running or 0), max(self.waiting, sample.waiting or 0)
        self.kv_used = max(self.kv_used, sample.kv_used or 0.0)

    async def watch(self) -> None:
        while True:
            with suppress(EngineError):
                await self.look()
            await asyncio.sleep(LOOK_EVERY)

    def grown(self, name: str) -> int:
        return (getattr(self.looks[-1], name) or 0) - (getattr(self.looks[0], name) or 0)


@dataclass(frozen=True)
class Round:
    name: str
    answers: Sequence[Answer]
    engine: Engine

    def told(self) -> dict[str, Any]:
        began, ended = min(one.began for one in self.answers), max(one.ended for one in self.answers)
        first_done = min(max(one.ended for one in self.answers if one.host == host) for host in self.hosts)
        tokens, looked_up = sum(one.tokens for one in self.answers), self.engine.grown("prefix_queries")
        hits = self.engine.grown("prefix_hits")
        return {
            "round": self.name,
            "hosts": len(self.hosts),
            "requests": len(self.answers),
            "prompt_tokens": sum(one.prompt for one in self.answers),
            "tokens": tokens,
            "seconds": round(ended - began, 2),
            "tok_s": round(tokens / (ended - began), 1),
            "seconds_all_at_work": round(first_done - began, 2),
            "tok_s_all_at_work": round(self._until(first_done) / (first_done - began), 1),
            "in_flight": round(sum(one.ended - one.began for one in self.answers) / (ended - began), 2),
            "in_flight_all_at_work": round(
                sum(max(0.0, min(one.ended, first_done) - one.began) for one in self.answers) / (first_done - began), 2
            ),
            "engine_tokens": self.engine.grown("generation_tokens"),
            "prefix_queries": looked_up,
            "prefix_hits": hits,
            "prefix_hit_rate": round(hits / looked_up, 4) if looked_up else None,
            "preemptions": self.engine.grown("preemptions"),
            "running_most": self.engine.running,
            "waiting_most": self.engine.waiting,
            "kv_used_most": round(self.engine.kv_used, 4),
            "kv_tokens": self.engine.looks[-1].kv_tokens,
            "promised_most": self.engine.promised,
            "between": self._between(),
            "finished": Counter(f"{one.finish or 'none'} {one.outcome}".strip() for one in self.answers),
        }

    @property
    def hosts(self) -> set[str]:
        return {one.host for one in self.answers}

    def _between(self) -> dict[str, tuple[int, float, float]]:
        """How often, seconds in all and the most, of all hosts together."""
        found = defaultdict(list)
        for host in self.hosts:
            own = sorted((one for one in self.answers if one.host == host), key=lambda one: one.began)
            for before, after in pairwise(own if own[0].purpose else ()):
                found[f"{before.purpose} to {after.purpose}"].append(after.began - before.ended)
        return {step: (len(took), round(sum(took), 2), round(max(took), 2)) for step, took in sorted(found.items())}

    def _until(self, moment: float) -> float:
        """Tokens until then; of an answer that was still being written its share."""
        return sum(
            one.tokens * max(0.0, min(1.0, (moment - one.began) / (one.ended - one.began))) for one in self.answers
        )


@dataclass
class Capture:
    """What left for the engine, by the name of its turn, and when."""

    sent: dict[str, tuple[float, bytes]] = field(default_factory=dict)
    promised: Callable[[], int] = lambda: 0
    most: int = 0

    async def __call__(self, request: httpx.Request) -> None:
        if request.url.path.endswith("/chat/completions"):
            turn = request.headers["x-request-id"].rpartition(".")[0]
            self.sent.setdefault(turn, (time.monotonic(), request.content))
            self.most = max(self.most, self.promised())


def lineup_file(folder: Path, asked: argparse.Namespace) -> Path:
    lines = [
        f'title = "{asked.model} for all four roles"',
        "[[gpus]]",
        "index = 0",
        f'kind = "{asked.gpu}"',
        "memory_gib = 140.4",
        "bandwidth_gb_s = 4800",
        "[engines.one]",
        f'title = "{asked.model}"',
        f'model = "{asked.model}"',
        f'served_name = "{asked.model}"',
        'precision = "bf16"',
        "gpus = [0]",
        "tp = 1",
        f"max_model_len = {asked.context}",
        f"max_num_seqs = {asked.streams}",
        f'base_urls = ["{asked.base_url}"]',
    ]
    for role in ROLES:
        lines += [f"[seats.{role}]", 'engine = "one"', f"temperature = {asked.temperature}", "thinking = false"]
        lines += [f"max_tokens = {asked.tokens}", f"guided = {str(asked.guided).lower()}"]
    place = folder / "one.toml"
    place.write_text("\n".join(lines) + "\n")
    return place


async def by_temper(asked: argparse.Namespace, engine: Engine) -> tuple[Round, dict[str, list[bytes]], list[float]]:
    """The round, each host's questions in the order in which it asked them, and how long its turns waited."""
    with tempfile.TemporaryDirectory() as folder:
        place = lineup_file(Path(folder), asked)
        lineup = read_lineup(place)
        settings = Settings(data=Path(folder) / "data", lineup=str(place), kind="run")
        async with open_runtime(settings, lineup) as runtime:
            while not all(name in runtime.board.states for name in runtime.bases):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            capture = Capture(promised=lambda: runtime.traffic.compute_own_load(asked.base_url).tokens)
            runtime.http.event_hooks = {"request": [capture]}
            runs = await rolled_out(runtime, lineup, asked)
            events = {run: [one.event for one in runtime.store.read_events(run)] for run in runs}
    engine.promised = capture.most
    answers, questions, waits = [], defaultdict(list), []
    for run, host in runs.items():
        for event in events[run]:
            if isinstance(event, TurnStarted):
                waits.append(event.waited_ms / 1000)
            if isinstance(event, TurnFinished) and event.turn in capture.sent:
                at, content = capture.sent[event.turn]
                answers.append(answer_of(host, at, event))
                questions[host].append(cut(content, event))
    return Round("Temper", answers, engine), questions, waits


def answer_of(host: str, at: float, turn: TurnFinished) -> Answer:
    end = at + turn.seconds
    tokens = turn.prompt_tokens, turn.completion_tokens
    return Answer(host, at, end, *tokens, turn.finish_reason, turn.outcome, turn.purpose)


def cut(content: bytes, turn: TurnFinished) -> bytes:
    """Where Temper ended an answer because it repeated itself, so does the bare client."""
    return json.dumps(json.loads(content) | {"max_tokens": turn.completion_tokens}).encode() if turn.looped else content


async def rolled_out(runtime: Runtime, lineup: Lineup, asked: argparse.Namespace) -> dict[str, str]:
    """Runs and their hosts, once the rollout has come to its end."""
    hosts = ("fixture", *(f"fixture-{number}" for number in range(2, asked.hosts + 1)))
    budget = Budget(attempts=asked.attempts)
    order = Order(rules=tuple(asked.rules.split(",")), mode="auto", budget=budget, note="bench", by="bench")
    terms = RolloutTerms(at_once=asked.hosts, waves="rest", harmed=0)
    request = create_rollout_request(
        RolloutSpec(order=order, hosts=hosts, words="all", terms=terms), lineup, runtime.settings.hosts_folder
    )
    rollout = create_random_rollout_id()
    submit_rollout(runtime.database, request, rollout)
    conductor = RolloutController(runtime)
    conductor.start()
    try:
        while True:
            with Session(runtime.database) as session:
                events = list(read_rollout_events(session, rollout))
            if fold_rollout(events).status in ("finished", "stopped", "paused"):
                break
            await asyncio.sleep(0.5)
    finally:
        await conductor.close()
    return {one.event.of: one.event.host for one in events if isinstance(one.event, RolloutHostBegun)}


async def by_hand(name: str, base: str, questions: dict[str, list[bytes]], engine: Engine) -> Round:
    """Each host's questions one after the other, all hosts at once."""
    answers: list[Answer] = []

    async def chain(http: httpx.AsyncClient, host: str, asked: list[bytes]) -> None:
        for content in asked:
            answers.append(await bare(http, base, host, content))  # noqa: PERF401  each waits for the one before

    limits = httpx.Limits(max_connections=64)
    async with httpx.AsyncClient(timeout=PATIENCE, limits=limits) as http, asyncio.TaskGroup() as group:
        for host, asked in questions.items():
            group.create_task(chain(http, host, asked))
    return Round(name, answers, engine)


async def bare(http: httpx.AsyncClient, base: str, host: str, content: bytes) -> Answer:
    began, rest, usage, finish = time.monotonic(), b"", {}, ""
    headers = {"Content-Type": "application/json"}
    async with http.stream("POST", f"{base}/chat/completions", content=content, headers=headers) as answer:
        answer.raise_for_status()
        async for data in answer.aiter_bytes():
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                if line.startswith(b"data: {"):
                    chunk = json.loads(line[6:])
                    usage = chunk.get("usage") or usage
                    finish = next((one.get("finish_reason") for one in chunk.get("choices", [])), None) or finish
                    finish = "error" if "error" in chunk else finish
    return Answer(
        host, began, time.monotonic(), usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0), finish
    )


def salted(content: bytes) -> bytes:
    asked = json.loads(content)
    asked["messages"][0]["content"] = f"{secrets.token_hex(16)}\n{asked['messages'][0]['content']}"
    return json.dumps(asked).encode()


async def watched(base: str, work: Callable[[Engine], Awaitable[T]]) -> T:
    """From an empty prefix cache, with the engine looked at from before the first request until after the last."""
    async with httpx.AsyncClient(timeout=30) as http:
        emptied = await http.post(f"{base.removesuffix('/v1')}/reset_prefix_cache")
        emptied.raise_for_status()
        engine = Engine(EngineClient(http, base))
        await engine.look()
        watching = asyncio.create_task(engine.watch())
        try:
            return await work(engine)
        finally:
            watching.cancel()
            await asyncio.wait({watching})
            await asyncio.sleep(1)  # its counters come after its answers
            await engine.look()


def ratio(told: Sequence[dict[str, Any]], name: str) -> float | None:
    """Of Temper's rounds to the bare client's, each the mean of its own."""
    own, peers = ([one[name] for one in told if one["round"] == whose] for whose in ("Temper", "bare"))
    return round(fmean(own) / fmean(peers), 4) if peers else None


class Report:
    """Written anew with each round, so that what ends the next one leaves this."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self._asked, self._rounds, self.waits = asked, list[Round](), list[float]()

    def add(self, made: Round) -> None:
        self._rounds.append(made)
        answers = [[asdict(answer) for answer in one.answers] for one in self._rounds]
        self._asked.out.write_text(json.dumps(self.told() | {"answers": answers}, indent=1) + "\n")

    def told(self) -> dict[str, object]:
        told = [one.told() for one in self._rounds]
        return {
            "asked": {name: str(value) for name, value in vars(self._asked).items()},
            "rounds": told,
            "ratios": [ratio(told, "tok_s"), ratio(told, "tok_s_all_at_work")],
            "waited_most": max(self.waits, default=0.0),
            "waited": sum(one > 0.05 for one in self.waits),
        }


async def measured(asked: argparse.Namespace) -> dict[str, object]:
    base, report = asked.base_url, Report(asked)
    for _ in range(asked.times):
        made, questions, waits = await watched(base, lambda engine: by_temper(asked, engine))
        report.waits += waits
        report.add(made)
        own = {host: [salted(one) for one in asks] for host, asks in questions.items()}
        by_name = {"bare": questions, "salted": own}
        for name in asked.beside.split(",") if asked.beside else ():
            report.add(await watched(base, partial(by_hand, name, base, by_name[name])))
    return report.told()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base_url")
    parser.add_argument("model")
    parser.add_argument("out", type=Path)
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--rules", default=RULES)
    parser.add_argument("--attempts", type=int, default=2)
    parser.add_argument("--guided", action="store_true", help="shapes for small models")
    parser.add_argument("--tokens", type=int, default=1200, help="of an answer, at most")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--streams", type=int, default=8, help="max_num_seqs, as the server has it")
    parser.add_argument("--gpu", default="NVIDIA H200")
    parser.add_argument(
        "--beside", default="bare,salted", help="rounds after Temper's: bare, salted, as often as named"
    )
    parser.add_argument("--times", type=int, default=1, help="how often all rounds are gone through")
    asked = parser.parse_args()
    print(json.dumps(asyncio.run(measured(asked)), indent=1))


if __name__ == "__main__":
    main()
