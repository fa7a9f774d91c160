"""Prometheus metrics, in base units. Label values do not grow with the number of runs."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from fastapi import Request
from sqlalchemy import func
from sqlmodel import Session, col, select
from starlette.responses import Response

from app import __version__
from app.engines.queue import BOUNDS, EngineQueue
from app.events.kinds import GpuSampled
from app.lineups.model import Lineup
from app.loop.state import RunState
from app.machine.sampling.board import Board
from app.people.rights import viewers
from app.runtime.runtime import Runtime
from app.store import nodes, queries, schedules, webhooks
from app.store.models import RunRow
from app.web.api.engines import State
from app.web.api.problem import documented
from app.web.api.route import router as api_router
from app.web.api.turn_tally import Latencies, TurnTally
from app.web.deps import TheFolds, TheRuntime, TheSession, TheStreams
from app.web.stream.folds import Folds

router = api_router("health", prefix="")

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
GIB = 1024**3
_RUNS = ("queued", "running", "paused", "finished", "failed", "stopped")
_KINDS = ("serve", "worker", "run")
_ITEMS = ("passed", "escalated", "skipped", "deferred", "waived")


class Family(NamedTuple):
    name: str
    kind: str
    help: str
    samples: Sequence[tuple[dict[str, str], float] | tuple[str, dict[str, str], float]]
    """Samples of a histogram carry their own name."""


@router.get(
    "/metrics",
    response_class=Response,
    responses={**documented(), 200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
@viewers
def metrics(
    session: TheSession, runtime: TheRuntime, streams: TheStreams, folds: TheFolds, request: Request
) -> Response:
    turns: TurnTally = request.app.state.turns
    turns.catch_up()
    families = [
        Family("temper_build_info", "gauge", "1, with the version as label.", [({"version": __version__}, 1)]),
        Family("temper_stream_viewers", "gauge", "Who watches a stream now.", [({}, streams.viewers)]),
        *_of_nodes(session, runtime),
        *_of_runs(session),
        *_of_people(session, folds),
        *_of_turns(turns),
        *_of_machine(runtime.board, runtime.lineup),
        *_of_queues(runtime),
    ]
    return Response("".join(line for family in families for line in _lines(family)), media_type=MEDIA_TYPE)


def _of_nodes(session: Session, runtime: Runtime) -> Iterator[Family]:
    """Yield node metrics. SQLite has a single node, which has no heartbeat."""
    living = nodes.standings(session) if runtime.leases else []
    kinds = [one.kind for one in living] or [runtime.settings.kind]
    counted = [({"kind": kind}, float(kinds.count(kind))) for kind in _KINDS]
    yield Family("temper_nodes", "gauge", "Processes that live on this database, by kind.", counted)
    silent = [({"node": one.name}, one.silent_seconds) for one in living]
    yield Family("temper_node_silent_seconds", "gauge", "Since the node's last sign of life.", silent)


def _of_runs(session: Session) -> Iterator[Family]:
    counted = dict(session.exec(select(RunRow.state, func.count()).group_by(col(RunRow.state))).all())
    sums = [func.coalesce(func.sum(col(getattr(RunRow, name))), 0) for name in (*_ITEMS, "rolled_back", "tokens")]
    *items, undone, tokens = session.execute(select(*sums)).one()
    states = [({"state": state}, counted.get(state, 0)) for state in _RUNS]
    yield Family("temper_runs", "gauge", "Runs by state.", states)
    closed = [({"outcome": name}, count) for name, count in zip(_ITEMS, items, strict=True)]
    yield Family("temper_items_total", "counter", "Items closed, by outcome.", closed)
    yield Family("temper_rollbacks_total", "counter", "Attempts that were undone.", [({}, undone)])
    slipped = [({"host": run.host}, float(run.drifted)) for run in queries.newest_of_each_host(session)]
    yield Family("temper_drift_rules", "gauge", "Rules that held before a host's newest run and failed then.", slipped)
    yield Family("temper_tokens_total", "counter", "Tokens that the roles wrote.", [({}, tokens)])


def _of_people(session: Session, folds: Folds) -> Iterator[Family]:
    """Yield metrics of what needs attention: open approvals, failing webhooks, missed schedules."""
    states = [folds.now(row.id) for row in queries.unended(session) if row.state != "queued"]
    waiting = sum(_waits(state) for state in states)
    yield Family("temper_approvals_waiting", "gauge", "Changes that wait for a person.", [({}, waiting)])
    rows = webhooks.webhooks(session)
    failing = [({"webhook": row.id}, float(bool(row.problem))) for row in rows]
    yield Family("temper_webhook_failing", "gauge", "1 where the newest delivery was not taken.", failing)
    dropped = [({"webhook": row.id}, row.dropped) for row in rows]
    yield Family("temper_webhook_dropped_total", "counter", "Events given up after twelve attempts.", dropped)
    missed = [
        ({"schedule": row.id, "host": row.host}, float(row.enabled and row.unkept))
        for row in schedules.schedules(session)
    ]
    yield Family("temper_schedule_missed", "gauge", "1 where the schedule could not keep its newest time.", missed)


def _of_turns(turns: TurnTally) -> Iterator[Family]:
    tokens = [({"role": role}, count) for role, count in sorted(turns.tokens.items())]
    yield Family("temper_role_tokens_total", "counter", "Tokens written, since this process began.", tokens)
    read = [({"role": role}, count) for role, count in sorted(turns.read_tokens.items())]
    yield Family("temper_role_prompt_tokens_total", "counter", "Tokens read, since this process began.", read)
    looped = [({"role": role}, count) for role, count in sorted(turns.looped.items())]
    yield Family("temper_turns_looped_total", "counter", "Turns cut because they repeated themselves.", looped)
    for name, told, of in (
        ("temper_turn_seconds", "How long turns took.", turns.seconds),
        ("temper_first_token_seconds", "How long turns waited for their first token.", turns.waits),
    ):
        yield Family(name, "histogram", told, list(_histogram(name, of)))


def _waits(state: RunState) -> bool:
    return bool(state.item and state.item.attempt and state.item.attempt.awaits_person)


def _histogram(name: str, of: Mapping[str, Latencies]) -> Iterator[tuple[str, dict[str, str], float]]:
    for role, seen in sorted(of.items()):
        for bound, count in seen.samples():
            yield f"{name}_bucket", {"role": role, "le": bound}, count
        yield f"{name}_sum", {"role": role}, round(seen.total, 3)
        yield f"{name}_count", {"role": role}, float(sum(seen.counts))


def _card(event: GpuSampled) -> dict[str, str]:
    return {"gpu": str(event.gpu), "name": event.name, "simulated": _word(simulated=event.simulated)}


def _word(*, simulated: bool) -> str:
    return "true" if simulated else "false"


def _of_machine(board: Board, lineup: Lineup) -> Iterator[Family]:
    played = {engine.name: _word(simulated=engine.simulation is not None) for engine in lineup.engines.values()}
    states = [
        ({"engine": name, "state": state, "simulated": played.get(name, "")}, float(event.state == state))
        for name, (_, event) in board.states.items()
        for state in State.__args__  # type: ignore[attr-defined]
    ]
    yield Family("temper_engine_state", "gauge", "1 for the state that the engine is in.", states)
    samples = [
        ({"engine": name, "simulated": played.get(name, "")}, event) for name, (_, event) in board.engines.items()
    ]
    for name, told, value in (
        ("requests_running", "Requests being answered.", "running"),
        ("requests_waiting", "Requests in the engine's queue.", "waiting"),
        ("kv_cache_usage_ratio", "Share of the KV cache in use.", "kv_used"),
        ("prefix_hit_ratio", "Share of prompt tokens in the prefix cache, since its start.", "prefix_hit_rate"),
        ("generation_tokens_per_second", "Tokens written, over the last second.", "tok_s"),
    ):
        yield Family(f"temper_engine_{name}", "gauge", told, _known(samples, value))
    gpus = [(_card(event) | ({"host": host} if host else {}), event) for (host, _), (_, event) in board.gpus.items()]
    for name, told, value, scale in (
        ("memory_used_bytes", "Memory in use.", "used_gib", GIB),
        ("memory_total_bytes", "Memory of the GPU.", "total_gib", GIB),
        ("utilization_ratio", "Share of time in which it computed.", "utilization", 0.01),
        ("power_watts", "Power drawn.", "power_w", 1),
        ("temperature_celsius", "Temperature.", "temperature_c", 1),
    ):
        yield Family(f"temper_gpu_{name}", "gauge", told, _known(gpus, value, scale))


def _of_queues(runtime: Runtime) -> Iterator[Family]:
    """Yield queue metrics of this process only; other nodes have their own queues."""
    queues = {name: runtime.queues.of(name) for name in runtime.lineup.engines}
    waiting = [({"engine": name}, float(queue.now.waiting)) for name, queue in queues.items()]
    yield Family("temper_queue_turns_waiting", "gauge", "Turns that wait for an engine before they are sent.", waiting)
    longest = [({"engine": name}, round(queue.now.longest, 3)) for name, queue in queues.items()]
    yield Family("temper_queue_longest_wait_seconds", "gauge", "How long the one that came first has waited.", longest)
    told = "How long turns waited behind others."
    yield Family("temper_queue_wait_seconds", "histogram", told, [one for q in queues.items() for one in _waits_of(*q)])


def _waits_of(engine: str, queue: EngineQueue) -> Iterator[tuple[str, dict[str, str], float]]:
    for bound, count in zip((*map(str, BOUNDS), "+Inf"), accumulate(queue.waits), strict=True):
        yield "temper_queue_wait_seconds_bucket", {"engine": engine, "le": bound}, float(count)
    yield "temper_queue_wait_seconds_sum", {"engine": engine}, round(queue.waited, 3)
    yield "temper_queue_wait_seconds_count", {"engine": engine}, float(sum(queue.waits))


def _known(
    samples: Sequence[tuple[dict[str, str], object]], name: str, scale: float = 1
) -> list[tuple[dict[str, str], float]]:
    values = [(labels, getattr(event, name)) for labels, event in samples]
    return [(labels, value * scale) for labels, value in values if value is not None]


def _lines(family: Family) -> Iterator[str]:
    yield f"# HELP {family.name} {family.help}\n# TYPE {family.name} {family.kind}\n"
    for sample in family.samples:
        name, labels, value = sample if len(sample) == 3 else (family.name, *sample)
        inside = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
        yield f"{name}{{{inside}}} {value!r}\n" if inside else f"{name} {value!r}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
