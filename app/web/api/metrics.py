"""Prometheus metrics, in base units. Label values do not grow with the number of runs."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, get_args

import msgspec
from fastapi import Request
from sqlalchemy import func
from sqlmodel import Session, col, select
from starlette.responses import Response

from app import __version__
from app.engines.queue import BOUNDS as QUEUE_BOUNDS
from app.lineups.model import Lineup
from app.machine.sampling.engine_state_transitions import State
from app.machine.sampling.sample_board import Board
from app.people.rights import viewers
from app.runs.open_decision_reader import DecisionReader
from app.runs.open_decisions import DecisionKind
from app.runtime.backup_age import find_seconds_since_backup_or_first_start
from app.runtime.health_faults import WELL, FaultKind
from app.runtime.health_reading import read_faults
from app.runtime.runtime import Runtime
from app.store import nodes, run_queries, schedules, webhooks
from app.store.models import RunRow
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import build_problem_responses
from app.web.api.prometheus_turn_counters import BOUNDS, TurnCounters
from app.web.deps import TheDecisions, TheRuntime, TheSession, TheStreams

router = api_router("health", prefix="")

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_RUNS = ("queued", "running", "paused", "finished", "failed", "stopped")
_UNWELL = tuple(state for state in get_args(State) if state not in WELL)
_KINDS = ("serve", "worker", "run")
_ITEMS = ("passed", "escalated", "skipped", "deferred", "waived")
Labels = dict[str, str]


class _Metric(msgspec.Struct):
    help: str
    kind: str = "gauge"
    engine_field: str = ""
    gpu_field: str = ""
    scale: float = 1


_METRICS = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, _Metric])


class MetricFamily(NamedTuple):
    name: str
    samples: Sequence[tuple[Labels, float] | tuple[str, Labels, float]]
    "Samples of a histogram have their own names."


@router.get(
    "/metrics",
    response_class=Response,
    responses={**build_problem_responses(), 200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
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
        MetricFamily("temper_build_info", [({"version": __version__}, 1)]),
        MetricFamily("temper_stream_viewers", [({}, streams.viewers)]),
        *_collect_fault_metrics(runtime),
        *_collect_disk_and_backup_metrics(session, runtime),
        *_collect_node_metrics(session, runtime),
        *_collect_run_metrics(session),
        *_collect_attention_metrics(session, decisions, runtime.clock.now()),
        *_collect_turn_metrics(turns),
        *_collect_machine_metrics(runtime.board, runtime.lineup),
        *_collect_turn_queue_waiting_metrics(runtime),
    ]
    return Response(
        "".join(line for family in families for line in _iterate_family_lines(family)), media_type=MEDIA_TYPE
    )


def _label_by(label: str, values: Mapping[str, float]) -> list[tuple[Labels, float]]:
    return [({label: key}, value) for key, value in values.items()]


def _collect_fault_metrics(runtime: Runtime) -> Iterator[MetricFamily]:
    """Yield what is broken, judged as for the pages and /readyz."""
    faults = read_faults(runtime)
    found = dict.fromkeys(get_args(FaultKind), 0.0)
    for fault in faults:
        found[fault.kind] += len(fault.runs) or 1
    yield MetricFamily("temper_faults", _label_by("kind", found))
    played = _get_simulated_label_by_engine(runtime.lineup)
    unwell = {name: fault.state for fault in faults for name in fault.engines}
    engines = [
        ({"engine": name, "state": state, "simulated": played[name]}, float(unwell.get(name) == state))
        for name in runtime.lineup.engines
        for state in _UNWELL
    ]
    yield MetricFamily("temper_engine_faults", engines)
    yield MetricFamily("temper_queue_stuck_runs", [({}, found["queue"])])


def _collect_disk_and_backup_metrics(session: Session, runtime: Runtime) -> Iterator[MetricFamily]:
    data = runtime.settings.data
    disk, age = shutil.disk_usage(data), find_seconds_since_backup_or_first_start(session, data, runtime.clock.now())
    free = round(disk.free / disk.total, 4) if disk.total else 0.0
    yield MetricFamily("temper_data_disk_free_ratio", [({}, free)])
    yield MetricFamily("temper_backup_age_seconds", [] if age is None else [({}, round(age))])


def _collect_node_metrics(session: Session, runtime: Runtime) -> Iterator[MetricFamily]:
    """Yield node metrics. SQLite has a single node, which has no heartbeat."""
    living = nodes.list_unended_node_statuses(session) if runtime.leases else []
    kinds = [one.kind for one in living] or [runtime.settings.kind]
    counted = {kind: float(kinds.count(kind)) for kind in _KINDS}
    silent = {one.name: one.silent_seconds for one in living}
    off = {one.name: round(one.clock_off, 3) for one in living}
    yield MetricFamily("temper_nodes", _label_by("kind", counted))
    lost = len(nodes.list_given_up_nodes(session)) if runtime.leases else 0
    yield MetricFamily("temper_nodes_lost", [({}, lost)])
    yield MetricFamily("temper_node_silent_seconds", _label_by("node", silent))
    yield MetricFamily("temper_node_clock_off_seconds", _label_by("node", off))


def _collect_run_metrics(session: Session) -> Iterator[MetricFamily]:
    counted = dict(session.exec(select(RunRow.state, func.count()).group_by(col(RunRow.state))).all())
    sums = [func.coalesce(func.sum(col(getattr(RunRow, name))), 0) for name in (*_ITEMS, "rolled_back", "tokens")]
    *items, undone, tokens = session.execute(select(*sums)).one()
    states = {state: counted.get(state, 0) for state in _RUNS}
    closed = dict(zip(_ITEMS, items, strict=True))
    slipped = {run.host: float(run.drifted) for run in run_queries.list_hosts_newest_started_runs(session)}
    yield MetricFamily("temper_runs", _label_by("state", states))
    yield MetricFamily("temper_items_total", _label_by("outcome", closed))
    yield MetricFamily("temper_rollbacks_total", [({}, undone)])
    yield MetricFamily("temper_drift_rules", _label_by("host", slipped))
    yield MetricFamily("temper_tokens_total", [({}, tokens)])


def _collect_attention_metrics(session: Session, decisions: DecisionReader, now: float) -> Iterator[MetricFamily]:
    """Yield metrics of what needs attention: the inbox, failing webhooks, missed schedules."""
    waiting: dict[str, list[float]] = {kind: [] for kind in get_args(DecisionKind)}
    for one in decisions.list_decisions():
        waiting[one.kind].append(max(0.0, now - one.since))
    yield MetricFamily("temper_inbox_items", [({"kind": kind}, float(len(ages))) for kind, ages in waiting.items()])
    oldest = [({"kind": kind}, round(max(ages, default=0.0), 1)) for kind, ages in waiting.items()]
    yield MetricFamily("temper_inbox_oldest_seconds", oldest)
    yield MetricFamily("temper_approvals_waiting", [({}, len(waiting["approval"]))])
    rows = webhooks.list_webhooks(session)
    failing = {row.id: float(bool(row.problem)) for row in rows}
    yield MetricFamily("temper_webhook_failing", _label_by("webhook", failing))
    dropped = {row.id: row.dropped for row in rows}
    yield MetricFamily("temper_webhook_dropped_total", _label_by("webhook", dropped))
    missed = [
        ({"schedule": row.id, "host": row.host}, float(row.enabled and row.unkept))
        for row in schedules.list_schedules(session)
    ]
    yield MetricFamily("temper_schedule_missed", missed)


def _collect_turn_metrics(turns: TurnCounters) -> Iterator[MetricFamily]:
    for name, counts in (
        ("temper_role_tokens_total", turns.tokens),
        ("temper_role_prompt_tokens_total", turns.read_tokens),
        ("temper_turns_looped_total", turns.looped),
    ):
        yield MetricFamily(name, _label_by("role", dict(sorted(counts.items()))))
    for name, of in (("temper_turn_seconds", turns.seconds), ("temper_first_token_seconds", turns.waits)):
        by_role = [({"role": role}, seen.counts, seen.total) for role, seen in sorted(of.items())]
        yield _build_histogram(name, BOUNDS, by_role)


def _build_histogram(
    name: str, bounds: Sequence[float], labelled_counts: Sequence[tuple[Labels, Sequence[int], float]]
) -> MetricFamily:
    """Return a histogram of counts between bounds and their sum, for each set of labels."""
    samples: list[tuple[str, Labels, float]] = []
    for labels, counts, total in labelled_counts:
        for bound, count in zip((*map(str, bounds), "+Inf"), accumulate(counts), strict=True):
            samples.append((f"{name}_bucket", labels | {"le": bound}, float(count)))
        samples += [(f"{name}_sum", labels, round(total, 3)), (f"{name}_count", labels, float(sum(counts)))]
    return MetricFamily(name, samples)


def _get_simulated_label_by_engine(lineup: Lineup) -> Labels:
    return {name: str(engine.simulation is not None).lower() for name, engine in lineup.engines.items()}


def _collect_machine_metrics(board: Board, lineup: Lineup) -> Iterator[MetricFamily]:
    played = _get_simulated_label_by_engine(lineup)
    states = [
        ({"engine": name, "state": state, "simulated": played.get(name, "")}, float(event.state == state))
        for name, (_, event) in board.states.items()
        for state in get_args(State)
    ]
    yield MetricFamily("temper_engine_state", states)
    engines = [
        ({"engine": name, "simulated": played.get(name, "")}, event) for name, (_, event) in board.engines.items()
    ]
    gpus = [
        (
            {"gpu": str(event.gpu), "name": event.name, "simulated": str(event.simulated).lower()}
            | ({"host": host} if host else {}),
            event,
        )
        for (host, _), (_, event) in board.gpus.items()
    ]
    for name, metric in _METRICS.items():
        if metric.engine_field:
            yield MetricFamily(name, _select_known_values(engines, metric.engine_field, metric.scale))
        elif metric.gpu_field:
            yield MetricFamily(name, _select_known_values(gpus, metric.gpu_field, metric.scale))


def _select_known_values(
    samples: Sequence[tuple[Labels, object]], field: str, scale: float
) -> list[tuple[Labels, float]]:
    values = [(labels, getattr(event, field)) for labels, event in samples]
    return [(labels, value * scale) for labels, value in values if value is not None]


def _collect_turn_queue_waiting_metrics(runtime: Runtime) -> Iterator[MetricFamily]:
    """Yield queue metrics of this process only; other nodes have their own queues."""
    queues = {name: runtime.queues.get_queue(name) for name in runtime.lineup.engines}
    waiting = {name: float(queue.status.waiting) for name, queue in queues.items()}
    yield MetricFamily("temper_queue_turns_waiting", _label_by("engine", waiting))
    longest = {name: round(queue.status.longest, 3) for name, queue in queues.items()}
    yield MetricFamily("temper_queue_longest_wait_seconds", _label_by("engine", longest))
    waits = [({"engine": name}, queue.waits, queue.waited) for name, queue in queues.items()]
    yield _build_histogram("temper_queue_wait_seconds", QUEUE_BOUNDS, waits)


def _iterate_family_lines(family: MetricFamily) -> Iterator[str]:
    metric = _METRICS[family.name]
    yield f"# HELP {family.name} {metric.help}\n# TYPE {family.name} {metric.kind}\n"
    for sample in family.samples:
        name, labels, value = sample if len(sample) == 3 else (family.name, *sample)
        inside = ",".join(f'{name}="{_escape_label(text)}"' for name, text in labels.items())
        yield f"{name}{{{inside}}} {value!r}\n" if inside else f"{name} {value!r}\n"


def _escape_label(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
