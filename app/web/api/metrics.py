"""Prometheus metrics, in base units. Label values do not grow with the number of runs."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import NamedTuple, get_args

from fastapi import Request
from sqlalchemy import func
from sqlmodel import Session, col, select
from starlette.responses import Response

from app import __version__
from app.engines.queue import BOUNDS as QUEUE_BOUNDS
from app.lineups.model import Lineup
from app.machine.sampling.engine_condition import State
from app.machine.sampling.sample_board import Board
from app.people.rights import viewers
from app.runs.open_decision_reader import DecisionReader
from app.runs.open_decisions import DecisionKind
from app.runtime.backup_age import read_backup_age
from app.runtime.health import WELL, FaultKind
from app.runtime.health_reading import read_faults
from app.runtime.runtime import Runtime
from app.store import nodes, run_queries, schedules, webhooks
from app.store.models import RunRow
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import document_problems
from app.web.api.turn_counters import BOUNDS, TurnCounters
from app.web.deps import TheDecisions, TheRuntime, TheSession, TheStreams

router = api_router("health", prefix="")

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
GIB = 1024**3
_RUNS = ("queued", "running", "paused", "finished", "failed", "stopped")
_UNWELL = tuple(state for state in get_args(State) if state not in WELL)
_KINDS = ("serve", "worker", "run")
_ITEMS = ("passed", "escalated", "skipped", "deferred", "waived")


_ENGINE_FIGURES = {
    "requests_running": ("Requests in progress.", "running"),
    "requests_waiting": ("Requests in the engine's queue.", "waiting"),
    "kv_cache_usage_ratio": ("Share of the KV cache in use.", "kv_used"),
    "prefix_hit_ratio": (
        "Share of prompt tokens found in the prefix cache, since the engine started.",
        "prefix_hit_rate",
    ),
    "generation_tokens_per_second": ("Tokens written, over the last second.", "tok_s"),
}
_GPU_FIGURES = {
    "memory_used_bytes": ("Memory in use.", "used_gib", GIB),
    "memory_total_bytes": ("Memory of the GPU.", "total_gib", GIB),
    "utilization_ratio": ("Share of time in which the GPU computed.", "utilization", 0.01),
    "power_watts": ("Power drawn.", "power_w", 1),
    "temperature_celsius": ("Temperature.", "temperature_c", 1),
}

Labels = dict[str, str]


class MetricFamily(NamedTuple):
    kind: str
    name: str
    help: str
    samples: Sequence[tuple[Labels, float] | tuple[str, Labels, float]]
    "Samples of a histogram have their own names."


_gauge, _counter = partial(MetricFamily, "gauge"), partial(MetricFamily, "counter")


@router.get(
    "/metrics",
    response_class=Response,
    responses={**document_problems(), 200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    name="metrics",
)
@viewers
def show_metrics(
    session: TheSession, runtime: TheRuntime, streams: TheStreams, decisions: TheDecisions, request: Request
) -> Response:
    """Export metrics in the text format of Prometheus."""
    turns: TurnCounters = request.app.state.turns
    turns.catch_up()
    families = [
        _gauge("temper_build_info", "Always 1; the label has the version.", [({"version": __version__}, 1)]),
        _gauge("temper_stream_viewers", "Open event streams.", [({}, streams.viewers)]),
        *_collect_fault_metrics(runtime),
        *_collect_disk_and_backup_metrics(session, runtime),
        *_collect_node_metrics(session, runtime),
        *_collect_run_metrics(session),
        *_collect_attention_metrics(session, decisions, runtime.clock.now()),
        *_collect_turn_metrics(turns),
        *_collect_machine_metrics(runtime.board, runtime.lineup),
        *_collect_turn_queue_metrics(runtime),
    ]
    return Response("".join(line for family in families for line in _format_family(family)), media_type=MEDIA_TYPE)


def _label_by(label: str, values: Mapping[str, float]) -> list[tuple[Labels, float]]:
    return [({label: key}, value) for key, value in values.items()]


def _collect_fault_metrics(runtime: Runtime) -> Iterator[MetricFamily]:
    """Yield what is broken, judged as for the pages and /readyz."""
    faults = read_faults(runtime)
    found = dict.fromkeys(get_args(FaultKind), 0.0)
    for fault in faults:
        found[fault.kind] += len(fault.runs) or 1
    yield _gauge("temper_faults", "What is broken now, by kind, as the pages say it.", _label_by("kind", found))
    played = _get_simulated_label_by_engine(runtime.lineup)
    unwell = {name: fault.state for fault in faults for name in fault.engines}
    engines = [
        ({"engine": name, "state": state, "simulated": played[name]}, float(unwell.get(name) == state))
        for name in runtime.lineup.engines
        for state in _UNWELL
    ]
    yield _gauge("temper_engine_faults", "1 if the engine is broken in this way, as the pages say it.", engines)
    said = "Hosts whose next run nothing takes up."
    yield _gauge("temper_queue_stuck_runs", said, [({}, found["queue"])])


def _collect_disk_and_backup_metrics(session: Session, runtime: Runtime) -> Iterator[MetricFamily]:
    data = runtime.settings.data
    disk, age = shutil.disk_usage(data), read_backup_age(session, data, runtime.clock.now())
    free = round(disk.free / disk.total, 4) if disk.total else 0.0
    yield _gauge("temper_data_disk_free_ratio", "Share of the data folder's disk that is free.", [({}, free)])
    said = "Age of the newest backup, counted from the first start before there is one."
    yield _gauge("temper_backup_age_seconds", said, [] if age is None else [({}, round(age))])


def _collect_node_metrics(session: Session, runtime: Runtime) -> Iterator[MetricFamily]:
    """Yield node metrics. SQLite has a single node, which has no heartbeat."""
    living = nodes.list_node_statuses(session) if runtime.leases else []
    kinds = [one.kind for one in living] or [runtime.settings.kind]
    counted = {kind: float(kinds.count(kind)) for kind in _KINDS}
    silent = {one.name: one.silent_seconds for one in living}
    off = {one.name: round(one.clock_off, 3) for one in living}
    yield _gauge("temper_nodes", "Processes on this database, by kind.", _label_by("kind", counted))
    lost = len(nodes.list_given_up_nodes(session)) if runtime.leases else 0
    yield _gauge("temper_nodes_lost", "Nodes that fell silent without signing off and are not back.", [({}, lost)])
    yield _gauge("temper_node_silent_seconds", "Time since the node's last heartbeat.", _label_by("node", silent))
    said = "How far the node's clock is ahead of the database's."
    yield _gauge("temper_node_clock_off_seconds", said, _label_by("node", off))


def _collect_run_metrics(session: Session) -> Iterator[MetricFamily]:
    counted = dict(session.exec(select(RunRow.state, func.count()).group_by(col(RunRow.state))).all())
    sums = [func.coalesce(func.sum(col(getattr(RunRow, name))), 0) for name in (*_ITEMS, "rolled_back", "tokens")]
    *items, undone, tokens = session.execute(select(*sums)).one()
    states = {state: counted.get(state, 0) for state in _RUNS}
    closed = dict(zip(_ITEMS, items, strict=True))
    slipped = {run.host: float(run.drifted) for run in run_queries.list_hosts_newest_started_runs(session)}
    yield _gauge("temper_runs", "Runs by state.", _label_by("state", states))
    yield _counter("temper_items_total", "Items closed, by outcome.", _label_by("outcome", closed))
    yield _counter("temper_rollbacks_total", "Attempts that were rolled back.", [({}, undone)])
    said = "Rules that passed before a host's newest run and failed when it began."
    yield _gauge("temper_drift_rules", said, _label_by("host", slipped))
    yield _counter("temper_tokens_total", "Tokens that the roles wrote.", [({}, tokens)])


def _collect_attention_metrics(session: Session, decisions: DecisionReader, now: float) -> Iterator[MetricFamily]:
    """Yield metrics of what needs attention: the inbox, failing webhooks, missed schedules."""
    waiting: dict[str, list[float]] = {kind: [] for kind in get_args(DecisionKind)}
    for one in decisions.list_decisions():
        waiting[one.kind].append(max(0.0, now - one.since))
    said = "Decisions that wait for a person, as the inbox lists them."
    yield _gauge("temper_inbox_items", said, [({"kind": kind}, float(len(ages))) for kind, ages in waiting.items()])
    oldest = [({"kind": kind}, round(max(ages, default=0.0), 1)) for kind, ages in waiting.items()]
    yield _gauge("temper_inbox_oldest_seconds", "For how long the oldest of them has waited.", oldest)
    yield _gauge("temper_approvals_waiting", "Changes that wait for approval.", [({}, len(waiting["approval"]))])
    rows = webhooks.list_webhooks(session)
    failing = {row.id: float(bool(row.problem)) for row in rows}
    yield _gauge("temper_webhook_failing", "1 if the newest delivery failed.", _label_by("webhook", failing))
    said, dropped = "Events dropped after twelve failed deliveries.", {row.id: row.dropped for row in rows}
    yield _counter("temper_webhook_dropped_total", said, _label_by("webhook", dropped))
    missed = [
        ({"schedule": row.id, "host": row.host}, float(row.enabled and row.unkept))
        for row in schedules.list_schedules(session)
    ]
    yield _gauge("temper_schedule_missed", "1 if the schedule missed or skipped its latest time.", missed)


def _collect_turn_metrics(turns: TurnCounters) -> Iterator[MetricFamily]:
    for name, said, counts in (
        ("temper_role_tokens_total", "Tokens written since this process started.", turns.tokens),
        ("temper_role_prompt_tokens_total", "Tokens read since this process started.", turns.read_tokens),
        ("temper_turns_looped_total", "Turns cut because they repeated themselves.", turns.looped),
    ):
        yield _counter(name, said, _label_by("role", dict(sorted(counts.items()))))
    for name, said, of in (
        ("temper_turn_seconds", "Duration of turns.", turns.seconds),
        ("temper_first_token_seconds", "Time to first token of turns.", turns.waits),
    ):
        by_role = [({"role": role}, seen.counts, seen.total) for role, seen in sorted(of.items())]
        yield _build_histogram(name, said, BOUNDS, by_role)


def _build_histogram(
    name: str, help_text: str, bounds: Sequence[float], labelled_counts: Sequence[tuple[Labels, Sequence[int], float]]
) -> MetricFamily:
    """Return a histogram of counts between bounds and their sum, for each set of labels."""
    samples: list[tuple[str, Labels, float]] = []
    for labels, counts, total in labelled_counts:
        for bound, count in zip((*map(str, bounds), "+Inf"), accumulate(counts), strict=True):
            samples.append((f"{name}_bucket", labels | {"le": bound}, float(count)))
        samples += [(f"{name}_sum", labels, round(total, 3)), (f"{name}_count", labels, float(sum(counts)))]
    return MetricFamily("histogram", name, help_text, samples)


def _get_simulated_label_by_engine(lineup: Lineup) -> Labels:
    return {name: str(engine.simulation is not None).lower() for name, engine in lineup.engines.items()}


def _collect_machine_metrics(board: Board, lineup: Lineup) -> Iterator[MetricFamily]:
    played = _get_simulated_label_by_engine(lineup)
    states = [
        ({"engine": name, "state": state, "simulated": played.get(name, "")}, float(event.state == state))
        for name, (_, event) in board.states.items()
        for state in get_args(State)
    ]
    yield _gauge("temper_engine_state", "1 for the current state of the engine.", states)
    samples = [
        ({"engine": name, "simulated": played.get(name, "")}, event) for name, (_, event) in board.engines.items()
    ]
    for name, (said, field) in _ENGINE_FIGURES.items():
        yield _gauge(f"temper_engine_{name}", said, _select_known_values(samples, field))
    gpus = [
        (
            {"gpu": str(event.gpu), "name": event.name, "simulated": str(event.simulated).lower()}
            | ({"host": host} if host else {}),
            event,
        )
        for (host, _), (_, event) in board.gpus.items()
    ]
    for name, (said, field, scale) in _GPU_FIGURES.items():
        yield _gauge(f"temper_gpu_{name}", said, _select_known_values(gpus, field, scale))


def _select_known_values(
    samples: Sequence[tuple[Labels, object]], field: str, scale: float = 1
) -> list[tuple[Labels, float]]:
    values = [(labels, getattr(event, field)) for labels, event in samples]
    return [(labels, value * scale) for labels, value in values if value is not None]


def _collect_turn_queue_metrics(runtime: Runtime) -> Iterator[MetricFamily]:
    """Yield queue metrics of this process only; other nodes have their own queues."""
    queues = {name: runtime.queues.get_queue(name) for name in runtime.lineup.engines}
    waiting = {name: float(queue.status.waiting) for name, queue in queues.items()}
    said = "Turns that wait for the engine and are not yet sent."
    yield _gauge("temper_queue_turns_waiting", said, _label_by("engine", waiting))
    longest = {name: round(queue.status.longest, 3) for name, queue in queues.items()}
    said = "Waiting time of the oldest of these turns."
    yield _gauge("temper_queue_longest_wait_seconds", said, _label_by("engine", longest))
    waits = [({"engine": name}, queue.waits, queue.waited) for name, queue in queues.items()]
    said = "Time that turns waited behind others."
    yield _build_histogram("temper_queue_wait_seconds", said, QUEUE_BOUNDS, waits)


def _format_family(family: MetricFamily) -> Iterator[str]:
    yield f"# HELP {family.name} {family.help}\n# TYPE {family.name} {family.kind}\n"
    for sample in family.samples:
        name, labels, value = sample if len(sample) == 3 else (family.name, *sample)
        inside = ",".join(f'{name}="{_escape_label(text)}"' for name, text in labels.items())
        yield f"{name}{{{inside}}} {value!r}\n" if inside else f"{name} {value!r}\n"


def _escape_label(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
