"""The operator's console: its parts, its page, its stream and the switch for the simulator."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Query
from sqlmodel import Session
from starlette.responses import Response

from app.engines.launch.log_tail import read_last_lines
from app.events.kinds import KINDS, EngineState
from app.loop.state import RunState
from app.people.rights import operators, viewers
from app.runs.open_decision_reader import DecisionReader
from app.runtime.backup_age import find_backup_time, find_seconds_since_backup_or_first_start
from app.runtime.health_reading import read_faults
from app.runtime.runtime import Runtime
from app.store import nodes, run_queries, schedules, webhooks
from app.store.session_shared_within_request import open_read_session
from app.targets.host_locks_held_too_long import find_hosts_held_long_while_others_wait
from app.web.deps import TheRuntime, TheSession, TheStreams, create_state_dependency
from app.web.pages.cold_starts import EngineVerb, OfRun, render_cold_starts
from app.web.pages.engine_card import build_engine_cards
from app.web.pages.gpu_cards import build_gpu_cards
from app.web.pages.hosts_sharing_each_engine import Sharing
from app.web.pages.inbox import TheInboxWatch
from app.web.pages.live_parts import LiveParts
from app.web.pages.mission.feed import FEED_KINDS, FeedLine, to_feed_line
from app.web.pages.ops.needs import OpsState, list_needs
from app.web.pages.ops.webhooks import list_webhook_lines_if_admin
from app.web.pages.templating import render_page, render_template_to_text
from app.web.stream.fold_cache import RunStateCache
from app.web.url_paths import redirect_to_run_or_route

OUTCOMES = ("passed", "escalated", "skipped", "deferred", "waived", "working")
LOG_LINES, FEED_LINES, FEED_RUNS = 40, 60, 4

router = APIRouter(include_in_schema=False)

TaggedLine = tuple[str, FeedLine]
"""A feed line and its run; the run is empty for a line about an engine."""


@dataclass(frozen=True)
class RunCard:
    state: RunState

    @property
    def done(self) -> int:
        return sum(item.status not in ("working", "waiting") for item in self.state.items.values())

    @property
    def outcome_bar_parts(self) -> Iterator[tuple[str, float, float]]:
        """Each outcome with start and width of its part of the bar, in percent."""
        statuses, left = [item.status for item in self.state.items.values()], 0.0
        for name in OUTCOMES:
            if name in statuses:
                width = 100 * statuses.count(name) / len(statuses)
                yield name, round(left, 2), round(width, 2)
                left += width


class Console:
    def __init__(self, runtime: Runtime, folds: RunStateCache, sharing: Sharing, decisions: DecisionReader) -> None:
        self._runtime, self._folds, self._sharing, self._decisions = runtime, folds, sharing, decisions
        self._feeds: dict[str, tuple[int, list[FeedLine]]] = {}
        """The last seq read and the newest lines, by run."""

    def render_parts(self) -> dict[str, str]:
        """Return inner HTML by element id."""
        with open_read_session(self._runtime.database) as session:
            unended = [row.id for row in run_queries.list_unended_runs(session)]
            situation = self._read_situation(session)
            newest = {row.id: row.host for row in run_queries.list_newest_runs(session, FEED_RUNS)}
        situation = replace(
            situation, stuck_hosts=find_hosts_held_long_while_others_wait(self._runtime.settings.hosts_folder)
        )
        runtime, now, states = self._runtime, situation.now, [self._read_state_at_newest_event(run) for run in unended]
        shares = self._sharing.read_current_shares_by_engine(now)
        engines, gpus = build_engine_cards(runtime, shares, now), build_gpu_cards(runtime)
        asked = list_needs(situation)
        return {
            "vitals": render_template_to_text(
                "partials/_vitals.html",
                runtime=runtime,
                needs=asked,
                engines=engines,
                states=states,
                gpus=gpus,
                nodes=situation.nodes,
                sampled=max((at for at, _ in runtime.board.engines.values()), default=None),
            ),
            "needs": render_template_to_text(
                "partials/_needs.html",
                needs=asked,
                loading=[name for name, (_, one) in runtime.board.states.items() if one.state == "loading"],
            ),
            "hand": render_template_to_text("partials/_hand.html", cards=[RunCard(state) for state in states]),
            "engines": render_template_to_text("partials/_engines.html", cards=engines),
            "simulator": render_template_to_text("partials/_simulator.html", simulator=runtime.simulator),
            "stairs": render_cold_starts(runtime) if runtime.launched else "",
            "gpus": render_template_to_text("partials/_gpu_rows.html", cards=gpus, reason=runtime.board.gpu_reason),
            "feed": render_template_to_text(
                "partials/_told.html",
                feed=self._merge_feeds(list(newest)),
                hosts=newest if len(set(newest.values())) > 1 else {},
            ),
            "log": render_template_to_text("partials/_log.html", lines=list(_read_engine_log_lines(runtime))),
            "nodes": render_template_to_text(
                "partials/_nodes.html", nodes=situation.nodes, node=runtime.leases.node if runtime.leases else ""
            ),
        }

    def _read_situation(self, session: Session) -> OpsState:
        runtime = self._runtime
        return OpsState(
            now=runtime.clock.now(),
            faults=read_faults(runtime),
            launched=list(runtime.launched),
            simulated=runtime.simulator is not None,
            hosts=run_queries.list_hosts_newest_started_runs(session),
            schedules=schedules.list_schedules(session),
            webhooks=webhooks.list_webhooks(session),
            decisions=self._decisions.list_decisions(),
            nodes=nodes.list_unended_node_statuses(session) if runtime.leases else (),
            lost_nodes=nodes.list_given_up_nodes(session) if runtime.leases else (),
            backed_up_at=find_backup_time(session, runtime.settings.data),
            backup_age=find_seconds_since_backup_or_first_start(session, runtime.settings.data, runtime.clock.now()),
            backup_days=runtime.settings.backup_days,
        )

    def _read_state_at_newest_event(self, run: str) -> RunState:
        """Return the run's state with the time of its newest event, tokens included."""
        state, newest = (
            self._folds.read_current(run),
            self._runtime.store.read_events_of_kinds_newest_first(run, None, KINDS, 1),
        )
        return msgspec.structs.replace(state, at=newest[0].at) if newest else state

    def _merge_feeds(self, runs: list[str]) -> list[TaggedLine]:
        self._feeds = {run: self._read_run_seq_and_feed(run) for run in runs}
        told = [(run, line) for run, (_, lines) in self._feeds.items() for line in lines]
        told += [("", _to_engine_feed_line(at, event)) for at, event in self._runtime.board.changes]
        return sorted(told, key=lambda one: (one[1].at, one[1].seq), reverse=True)[:FEED_LINES]

    def _read_run_seq_and_feed(self, run: str) -> tuple[int, list[FeedLine]]:
        seq, lines = self._feeds.get(run, (0, []))
        head = self._runtime.store.read_newest_seq(run)
        if head == seq:
            return seq, lines
        told = self._runtime.store.read_events_of_kinds_newest_first(run, None, FEED_KINDS, FEED_LINES * 2)
        return head, [line for line in map(to_feed_line, told) if line][:FEED_LINES]


def _to_engine_feed_line(at: float, event: EngineState) -> FeedLine:
    told = event.describe()
    return FeedLine(0, at, told.glyph, told.kind, told.text)


def _read_engine_log_lines(runtime: Runtime) -> Iterator[tuple[str, str]]:
    """Yield the last log lines of the simulator and of each launched engine, with its name."""
    if runtime.simulator:
        yield from (("simulator", line) for line in read_last_lines(runtime.settings.data / "simulator.log", LOG_LINES))
    for replicas in runtime.launched.values():
        for one in replicas:
            yield from ((one.name, line) for line in read_last_lines(one.log, LOG_LINES))


@router.get("/ops", name="ops")
@viewers
def show_ops(
    runtime: TheRuntime,
    console: Annotated[Console, Depends(create_state_dependency("console"))],
    session: TheSession,
    taken: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """Show the console. `taken` is the webhook that a test has just reached."""
    return render_page(
        "ops.html",
        here="ops",
        lineup=runtime.lineup,
        parts=console.render_parts(),
        elsewhere=[engine.title for engine in runtime.lineup.engines.values() if engine.base_urls],
        launched=bool(runtime.launched),
        webhooks=list_webhook_lines_if_admin(session),
        taken=taken,
    )


@router.get("/ops/stream", name="ops_stream")
@viewers
async def stream_ops(
    streams: TheStreams, watch: TheInboxWatch, live: Annotated[LiveParts, Depends(create_state_dependency("ops_live"))]
) -> Response:
    """Stream all parts once, then the parts that change and each second's samples."""
    return streams.create_live_response(live, [watch])


@router.post("/ops/engines", name="ops_engines")
@operators
async def submit_simulator_command(runtime: TheRuntime, verb: EngineVerb, run: OfRun = "") -> Response:
    """Start, stop or restart this process's simulator. A turn in progress waits for its engine, within its budget."""
    if runtime.simulator and verb != "start":
        await runtime.simulator.stop()
    if runtime.simulator and verb != "stop":
        await runtime.simulator.start()
    return redirect_to_run_or_route(run, "ops")
