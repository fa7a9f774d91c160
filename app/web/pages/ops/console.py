"""Renders the console's parts, for the page and once a second for its stream."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import msgspec
from sqlmodel import Session

from app.engines.launch.log_tail import read_last_lines
from app.events.kinds import KINDS, TOLD_KINDS, EngineState
from app.loop.state import RunState
from app.runtime.runtime import Runtime
from app.store import nodes, queries, rollouts, schedules, waivers, webhooks
from app.store.request_session import open_read_session
from app.targets.held_hosts import find_held
from app.web.pages.cold_starts import render_cold_starts
from app.web.pages.mission.feed import FeedLine, to_feed_line
from app.web.pages.ops.cards import build_engine_card, build_gpu_rows, build_run_card
from app.web.pages.ops.needs import OpsState, list_needs
from app.web.pages.sharing import EngineShare, Sharing
from app.web.pages.templating import render_template
from app.web.stream.fold_cache import RunStateCache

LOG_LINES, FEED_LINES, FEED_RUNS = 40, 60, 4

TaggedLine = tuple[str, FeedLine]
"""A feed line and its run; the run is empty for a line about an engine."""


class Console:
    """The operator's console; one instance per application."""

    def __init__(self, runtime: Runtime, folds: RunStateCache, sharing: Sharing) -> None:
        self._runtime, self._folds, self._sharing = runtime, folds, sharing
        self._feeds: dict[str, tuple[int, list[FeedLine]]] = {}
        """The last seq read and the newest lines, by run."""

    def render_parts(self) -> dict[str, str]:
        """Return inner HTML by element id."""
        with open_read_session(self._runtime.database) as session:
            unended = [row.id for row in queries.list_unended_runs(session)]
            situation = self._read_situation(session)
            living = nodes.list_node_statuses(session) if self._runtime.leases else []
            lost = nodes.given_up(session) if self._runtime.leases else []
            newest = {row.id: row.host for row in queries.list_newest_runs(session, FEED_RUNS)}
        held = find_held(self._runtime.settings.hosts_folder)
        situation = replace(situation, nodes=living, lost_nodes=lost, held_hosts=held)
        situation = replace(situation, states=[self._fold_run(run) for run in unended])
        runtime, now, states = self._runtime, situation.now, situation.states
        shares = self._sharing.read_shares(now)
        engines = [
            build_engine_card(runtime, engine, shares.get(engine.name, EngineShare()), now)
            for engine in runtime.lineup.engines.values()
        ]
        gpus = build_gpu_rows(runtime)
        asked = list_needs(situation)
        return {
            "vitals": render_template(
                "partials/_vitals.html",
                runtime=runtime,
                needs=asked,
                engines=engines,
                states=states,
                gpus=gpus,
                nodes=living,
                sampled=max((at for at, _ in runtime.board.engines.values()), default=None),
            ),
            "needs": render_template("partials/_needs.html", needs=asked, loading=_list_loading_engines(runtime)),
            "hand": render_template("partials/_hand.html", cards=[build_run_card(state) for state in states]),
            "engines": render_template("partials/_engines.html", cards=engines),
            "simulator": render_template("partials/_simulator.html", simulator=runtime.simulator),
            "stairs": render_cold_starts(runtime) if runtime.launched else "",
            "gpus": render_template("partials/_gpu_rows.html", rows=gpus, reason=runtime.board.gpu_reason),
            "feed": render_template(
                "partials/_told.html", feed=self._merge_feeds(list(newest)), hosts=_name_distinct_hosts(newest)
            ),
            "log": render_template("partials/_log.html", lines=list(_read_engine_logs(runtime))),
            "nodes": render_template(
                "partials/_nodes.html", nodes=living, node=runtime.leases.node if runtime.leases else ""
            ),
        }

    def _read_situation(self, session: Session) -> OpsState:
        runtime = self._runtime
        return OpsState(
            now=runtime.clock.now(),
            states=[],
            engines=dict(runtime.board.states),
            launched=list(runtime.launched),
            simulator=None if runtime.simulator is None else runtime.simulator.is_running,
            hosts=queries.list_newest_run_per_host(session),
            schedules=schedules.list_schedules(session),
            webhooks=webhooks.list_webhooks(session),
            waivers=waivers.list_waivers(session),
            rollouts=rollouts.list_unended_rollouts(session),
            unwritten=runtime.writer.stalled_seconds,
        )

    def _fold_run(self, run: str) -> RunState:
        """Return the run's state with the time of its newest event, tokens included."""
        state, newest = self._folds.read_current(run), self._runtime.store.read_newest(run, None, KINDS, 1)
        return msgspec.structs.replace(state, at=newest[0].at) if newest else state

    def _merge_feeds(self, runs: list[str]) -> list[TaggedLine]:
        self._feeds = {run: self._read_run_feed(run) for run in runs}
        told = [(run, line) for run, (_, lines) in self._feeds.items() for line in lines]
        told += [("", _describe_engine_change(at, event)) for at, event in self._runtime.board.changes]
        return sorted(told, key=lambda one: (one[1].at, one[1].seq), reverse=True)[:FEED_LINES]

    def _read_run_feed(self, run: str) -> tuple[int, list[FeedLine]]:
        seq, lines = self._feeds.get(run, (0, []))
        head = self._runtime.store.read_newest_seq(run)
        if head == seq:
            return seq, lines
        told = self._runtime.store.read_newest(run, None, TOLD_KINDS, FEED_LINES * 2)
        return head, [line for line in map(to_feed_line, told) if line][:FEED_LINES]


def _name_distinct_hosts(hosts: Mapping[str, str]) -> Mapping[str, str]:
    """Return host by run, or nothing if all runs are on one host."""
    return hosts if len(set(hosts.values())) > 1 else {}


def _list_loading_engines(runtime: Runtime) -> list[str]:
    return [name for name, (_, event) in runtime.board.states.items() if event.state == "loading"]


def _describe_engine_change(at: float, event: EngineState) -> FeedLine:
    told = event.describe()
    return FeedLine(0, at, told.glyph, told.kind, told.text)


def _read_engine_logs(runtime: Runtime) -> Iterator[tuple[str, str]]:
    """Yield the last log lines of the simulator and of each launched engine, with its name."""
    if runtime.simulator:
        yield from (("simulator", line) for line in read_last_lines(runtime.settings.data / "simulator.log", LOG_LINES))
    for replicas in runtime.launched.values():
        for one in replicas:
            yield from ((one.name, line) for line in read_last_lines(one.log, LOG_LINES))
