"""Prometheus metrics, in base units. Label values do not grow with the number of runs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, get_args

from fastapi import Request
from sqlalchemy import func
from sqlmodel import Session, col, select
from starlette.responses import Response

from app import __version__
from app.engines.queue import BOUNDS, EngineQueue
from app.events.kinds import GpuSampled
from app.lineups.model import Lineup
from app.loop.state import RunState
from app.machine.sampling.engine_condition import State
from app.machine.sampling.sample_board import Board
from app.people.rights import viewers
from app.runtime.health import FaultKind, find_faults, read_conditions
from app.runtime.runtime import Runtime
from app.store import nodes, queries, schedules, webhooks
from app.store.models import RunRow
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import document_problems
from app.web.api.turn_counters import LatencyHistogram, TurnCounters
from app.web.deps import TheFolds, TheRuntime, TheSession, TheStreams
from app.web.stream.fold_cache import RunStateCache

router = api_router("health", prefix="")

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
GIB = 1024**3
_RUNS = ("queued", "running", "paused", "finished", "failed", "stopped")
_KINDS = ("serve", "worker", "run")
_ITEMS = ("passed", "escalated", "skipped", "deferred", "waived")


class MetricFamily(NamedTuple):
    name: str
    kind: str
    help: str
    samples: Sequence[tuple[dict[str, str], float] | tuple[str, dict[str, str], float]]
    "Samples of a histogram have their own names."


@router.get(
    "/metrics",
    response_class=Response,
    responses={**document_problems(), 200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    name="metrics",
)
@viewers
def show_metrics(
    session: TheSession, runtime: TheRuntime, streams: TheStreams, folds: TheFolds, request: Request
) -> Response:
    turns: TurnCounters = request.app.state.turns
    turns.catch_up()
    families = [
        MetricFamily(
            "temper_build_info", "gauge", "Always 1; the label has the version.", [({"version": __version__}, 1)]
        ),
        MetricFamily("temper_stream_viewers", "gauge", "Open event streams.", [({}, streams.viewers)]),
        *_collect_fault_metrics(runtime),
        *_collect_node_metrics(session, runtime),
        *_collect_run_metrics(session),
        *_collect_attention_metrics(session, folds),
        *_collect_turn_metrics(turns),
        *_collect_machine_metrics(runtime.board, runtime.lineup),
        *_collect_queue_metrics(runtime),
    ]
    return Response("".join(line for family in families for line in _format_family(family)), media_type=MEDIA_TYPE)


def _collect_fault_metrics(runtime: Runtime) -> Iterator[MetricFamily]:
    found = Counter(fault.kind for fault in find_faults(read_conditions(runtime)))
    counted = [({"kind": kind}, float(found[kind])) for kind in get_args(FaultKind)]
    yield MetricFamily("temper_faults", "gauge", "What is broken now, by kind, as the pages say it.", counted)


def _collect_node_metrics(session: Session, runtime: Runtime) -> Iterator[MetricFamily]:
    """Yield node metrics. SQLite has a single node, which has no heartbeat."""
    living = nodes.list_node_statuses(session) if runtime.leases else []
    kinds = [one.kind for one in living] or [runtime.settings.kind]
    counted = [({"kind": kind}, float(kinds.count(kind))) for kind in _KINDS]
    yield MetricFamily("temper_nodes", "gauge", "Processes on this database, by kind.", counted)
    silent = [({"node": one.name}, one.silent_seconds) for one in living]
    yield MetricFamily("temper_node_silent_seconds", "gauge", "Time since the node's last heartbeat.", silent)
    off = [({"node": one.name}, round(one.clock_off, 3)) for one in living]
    yield MetricFamily(
        "temper_node_clock_off_seconds", "gauge", "How far the node's clock is ahead of the database's.", off
    )


def _collect_run_metrics(session: Session) -> Iterator[MetricFamily]:
    counted = dict(session.exec(select(RunRow.state, func.count()).group_by(col(RunRow.state))).all())
    sums = [func.coalesce(func.sum(col(getattr(RunRow, name))), 0) for name in (*_ITEMS, "rolled_back", "tokens")]
    *items, undone, tokens = session.execute(select(*sums)).one()
    states = [({"state": state}, counted.get(state, 0)) for state in _RUNS]
    yield MetricFamily("temper_runs", "gauge", "Runs by state.", states)
    closed = [({"outcome": name}, count) for name, count in zip(_ITEMS, items, strict=True)]
    yield MetricFamily("temper_items_total", "counter", "Items closed, by outcome.", closed)
    yield MetricFamily("temper_rollbacks_total", "counter", "Attempts that were rolled back.", [({}, undone)])
    slipped = [({"host": run.host}, float(run.drifted)) for run in queries.list_newest_run_per_host(session)]
    yield MetricFamily(
        "temper_drift_rules", "gauge", "Rules that passed before a host's newest run and failed when it began.", slipped
    )
    yield MetricFamily("temper_tokens_total", "counter", "Tokens that the roles wrote.", [({}, tokens)])


def _collect_attention_metrics(session: Session, folds: RunStateCache) -> Iterator[MetricFamily]:
    """Yield metrics of what needs attention: open approvals, failing webhooks, missed schedules."""
    states = [folds.read_current(row.id) for row in queries.list_unended_runs(session) if row.state != "queued"]
    waiting = sum(_waits_for_person(state) for state in states)
    yield MetricFamily("temper_approvals_waiting", "gauge", "Changes that wait for approval.", [({}, waiting)])
    rows = webhooks.list_webhooks(session)
    failing = [({"webhook": row.id}, float(bool(row.problem))) for row in rows]
    yield MetricFamily("temper_webhook_failing", "gauge", "1 1 if the newest delivery failed.", failing)
    dropped = [({"webhook": row.id}, row.dropped) for row in rows]
    yield MetricFamily(
        "temper_webhook_dropped_total", "counter", "Events dropped after twelve failed deliveries.", dropped
    )
    missed = [
        ({"schedule": row.id, "host": row.host}, float(row.enabled and row.unkept))
        for row in schedules.list_schedules(session)
    ]
    yield MetricFamily(
        "temper_schedule_missed", "gauge", "1 1 if the schedule missed or skipped its latest time.", missed
    )


def _collect_turn_metrics(turns: TurnCounters) -> Iterator[MetricFamily]:
    tokens = [({"role": role}, count) for role, count in sorted(turns.tokens.items())]
    yield MetricFamily("temper_role_tokens_total", "counter", "Tokens written since this process started.", tokens)
    read = [({"role": role}, count) for role, count in sorted(turns.read_tokens.items())]
    yield MetricFamily("temper_role_prompt_tokens_total", "counter", "Tokens read since this process started.", read)
    looped = [({"role": role}, count) for role, count in sorted(turns.looped.items())]
    yield MetricFamily("temper_turns_looped_total", "counter", "Turns cut because they repeated themselves.", looped)
    for name, told, of in (
        ("temper_turn_seconds", "Duration of turns.", turns.seconds),
        ("temper_first_token_seconds", "Time to first token of turns.", turns.waits),
    ):
        yield MetricFamily(name, "histogram", told, list(_expand_histogram(name, of)))


def _waits_for_person(state: RunState) -> bool:
    return bool(state.item and state.item.attempt and state.item.attempt.awaits_person)


def _expand_histogram(name: str, of: Mapping[str, LatencyHistogram]) -> Iterator[tuple[str, dict[str, str], float]]:
    for role, seen in sorted(of.items()):
        for bound, count in seen.to_buckets():
            yield f"{name}_bucket", {"role": role, "le": bound}, count
        yield f"{name}_sum", {"role": role}, round(seen.total, 3)
        yield f"{name}_count", {"role": role}, float(sum(seen.counts))


def _label_gpu(event: GpuSampled) -> dict[str, str]:
    return {"gpu": str(event.gpu), "name": event.name, "simulated": _format_simulated_label(simulated=event.simulated)}


def _format_simulated_label(*, simulated: bool) -> str:
    return "true" if simulated else "false"


def _collect_machine_metrics(board: Board, lineup: Lineup) -> Iterator[MetricFamily]:
    played = {
        engine.name: _format_simulated_label(simulated=engine.simulation is not None)
        for engine in lineup.engines.values()
    }
    states = [
        ({"engine": name, "state": state, "simulated": played.get(name, "")}, float(event.state == state))
        for name, (_, event) in board.states.items()
        for state in State.__args__  # type: ignore[attr-defined]
    ]
    yield MetricFamily("temper_engine_state", "gauge", "1 1 for the current state of the engine.", states)
    samples = [
        ({"engine": name, "simulated": played.get(name, "")}, event) for name, (_, event) in board.engines.items()
    ]
    for name, told, value in (
        ("requests_running", "Requests in progress.", "running"),
        ("requests_waiting", "Requests in the engine's queue.", "waiting"),
        ("kv_cache_usage_ratio", "Share of the KV cache in use.", "kv_used"),
        (
            "prefix_hit_ratio",
            "Share of prompt tokens found in the prefix cache, since the engine started.",
            "prefix_hit_rate",
        ),
        ("generation_tokens_per_second", "Tokens written, over the last second.", "tok_s"),
    ):
        yield MetricFamily(f"temper_engine_{name}", "gauge", told, _select_known(samples, value))
    gpus = [
        (_label_gpu(event) | ({"host": host} if host else {}), event) for (host, _), (_, event) in board.gpus.items()
    ]
    for name, told, value, scale in (
        ("memory_used_bytes", "Memory in use.", "used_gib", GIB),
        ("memory_total_bytes", "Memory of the GPU.", "total_gib", GIB),
        ("utilization_ratio", "Share of time in which the GPU computed.", "utilization", 0.01),
        ("power_watts", "Power drawn.", "power_w", 1),
        ("temperature_celsius", "Temperature.", "temperature_c", 1),
    ):
        yield MetricFamily(f"temper_gpu_{name}", "gauge", told, _select_known(gpus, value, scale))


def _collect_queue_metrics(runtime: Runtime) -> Iterator[MetricFamily]:
    """Yield queue metrics of this process only; other nodes have their own queues."""
    queues = {name: runtime.queues.get_queue(name) for name in runtime.lineup.engines}
    waiting = [({"engine": name}, float(queue.status.waiting)) for name, queue in queues.items()]
    yield MetricFamily(
        "temper_queue_turns_waiting", "gauge", "Turns that wait for the engine and are not yet sent.", waiting
    )
    longest = [({"engine": name}, round(queue.status.longest, 3)) for name, queue in queues.items()]
    yield MetricFamily(
        "temper_queue_longest_wait_seconds", "gauge", "Waiting time of the oldest of these turns.", longest
    )
    told = "Time that turns waited behind others."
    yield MetricFamily(
        "temper_queue_wait_seconds", "histogram", told, [one for q in queues.items() for one in _expand_queue_waits(*q)]
    )


def _expand_queue_waits(engine: str, queue: EngineQueue) -> Iterator[tuple[str, dict[str, str], float]]:
    for bound, count in zip((*map(str, BOUNDS), "+Inf"), accumulate(queue.waits), strict=True):
        yield "temper_queue_wait_seconds_bucket", {"engine": engine, "le": bound}, float(count)
    yield "temper_queue_wait_seconds_sum", {"engine": engine}, round(queue.waited, 3)
    yield "temper_queue_wait_seconds_count", {"engine": engine}, float(sum(queue.waits))


def _select_known(
    samples: Sequence[tuple[dict[str, str], object]], name: str, scale: float = 1
) -> list[tuple[dict[str, str], float]]:
    values = [(labels, getattr(event, name)) for labels, event in samples]
    return [(labels, value * scale) for labels, value in values if value is not None]


def _format_family(family: MetricFamily) -> Iterator[str]:
    yield f"# HELP {family.name} {family.help}\n# TYPE {family.name} {family.kind}\n"
    for sample in family.samples:
        name, labels, value = sample if len(sample) == 3 else (family.name, *sample)
        inside = ",".join(f'{name}="{_escape_label(text)}"' for name, text in labels.items())
        yield f"{name}{{{inside}}} {value!r}\n" if inside else f"{name} {value!r}\n"


def _escape_label(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
