"""Renders the console's parts, for the page and once a second for its stream."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

import msgspec
from sqlmodel import Session

from app.engines.launch.tail import last_lines
from app.events.kinds import KINDS, EngineState
from app.loop.state import RunState
from app.runtime.runtime import Runtime
from app.store import nodes, queries, rollouts, schedules, waivers, webhooks
from app.store.held import asking
from app.web.pages.cold_starts import cold_starts_now
from app.web.pages.mission.feed import FeedLine, feed_line
from app.web.pages.mission.missions import TOLD
from app.web.pages.ops.cards import engine_card, gpu_rows, run_card
from app.web.pages.ops.needs import WELL, OpsState, needs
from app.web.pages.sharing import EngineShare, Sharing
from app.web.pages.templating import rendered
from app.web.stream.folds import Folds

LOG_LINES, FEED_LINES, FEED_RUNS = 40, 60, 4

Told = tuple[str, FeedLine]
"""A feed line and its run; the run is empty for a line about an engine."""


class Console:
    """The operator's console; one instance per application."""

    def __init__(self, runtime: Runtime, folds: Folds, sharing: Sharing) -> None:
        self._runtime, self._folds, self._sharing = runtime, folds, sharing
        self._feeds: dict[str, tuple[int, list[FeedLine]]] = {}
        """The last seq read and the newest lines, by run."""

    def parts(self) -> dict[str, str]:
        """Return inner HTML by element id."""
        with asking(self._runtime.database) as session:
            unended = [row.id for row in queries.unended(session)]
            situation = self._situation(session)
            living = nodes.standings(session) if self._runtime.leases else []
            newest = {row.id: row.host for row in queries.newest(session, FEED_RUNS)}
        situation = replace(situation, states=[self._state(run) for run in unended])
        runtime, now, states = self._runtime, situation.now, situation.states
        shares = self._sharing.now(now)
        engines = [
            engine_card(runtime, engine, shares.get(engine.name, EngineShare()), now)
            for engine in runtime.lineup.engines.values()
        ]
        gpus = gpu_rows(runtime)
        asked = needs(situation)
        return {
            "vitals": rendered(
                "partials/_vitals.html",
                runtime=runtime,
                needs=asked,
                engines=engines,
                well=WELL,
                states=states,
                gpus=gpus,
                nodes=living,
                sampled=max((at for at, _ in runtime.board.engines.values()), default=None),
            ),
            "needs": rendered("partials/_needs.html", needs=asked, loading=_loading(runtime)),
            "hand": rendered("partials/_hand.html", cards=[run_card(state) for state in states]),
            "engines": rendered("partials/_engines.html", cards=engines),
            "simulator": rendered("partials/_simulator.html", simulator=runtime.simulator),
            "stairs": cold_starts_now(runtime) if runtime.launched else "",
            "gpus": rendered("partials/_gpu_rows.html", rows=gpus, reason=runtime.board.gpu_reason),
            "feed": rendered("partials/_told.html", feed=self._told(list(newest)), hosts=_several(newest)),
            "log": rendered("partials/_log.html", lines=list(_log(runtime))),
            "nodes": rendered("partials/_nodes.html", nodes=living, node=runtime.leases.node if runtime.leases else ""),
        }

    def _situation(self, session: Session) -> OpsState:
        runtime = self._runtime
        return OpsState(
            now=time.time(),
            states=[],
            engines=dict(runtime.board.states),
            launched=list(runtime.launched),
            simulator=None if runtime.simulator is None else runtime.simulator.running,
            hosts=queries.newest_of_each_host(session),
            schedules=schedules.schedules(session),
            webhooks=webhooks.webhooks(session),
            waivers=waivers.waivers(session),
            rollouts=rollouts.unended_rollouts(session),
            unwritten=runtime.writer.waits,
        )

    def _state(self, run: str) -> RunState:
        """Return the run's state with the time of its newest event, tokens included."""
        state, newest = self._folds.now(run), self._runtime.store.newest(run, None, KINDS, 1)
        return msgspec.structs.replace(state, at=newest[0].at) if newest else state

    def _told(self, runs: list[str]) -> list[Told]:
        self._feeds = {run: self._feed(run) for run in runs}
        told = [(run, line) for run, (_, lines) in self._feeds.items() for line in lines]
        told += [("", _changed(at, event)) for at, event in self._runtime.board.changes]
        return sorted(told, key=lambda one: (one[1].at, one[1].seq), reverse=True)[:FEED_LINES]

    def _feed(self, run: str) -> tuple[int, list[FeedLine]]:
        seq, lines = self._feeds.get(run, (0, []))
        head = self._runtime.store.head(run)
        if head == seq:
            return seq, lines
        told = self._runtime.store.newest(run, None, TOLD, FEED_LINES * 2)
        return head, [line for line in map(feed_line, told) if line][:FEED_LINES]


def _several(hosts: Mapping[str, str]) -> Mapping[str, str]:
    """Return host by run, or nothing if all runs are on one host."""
    return hosts if len(set(hosts.values())) > 1 else {}


def _loading(runtime: Runtime) -> list[str]:
    return [name for name, (_, event) in runtime.board.states.items() if event.state == "loading"]


def _changed(at: float, event: EngineState) -> FeedLine:
    text = f"Engine {event.engine} is {event.state}" + (f": {event.detail}" if event.detail else "")
    return FeedLine(0, at, "·" if event.state in WELL else "✗", "plain" if event.state in WELL else "alarm", text)


def _log(runtime: Runtime) -> Iterator[tuple[str, str]]:
    """Yield the last log lines of the simulator and of each launched engine, with its name."""
    if runtime.simulator:
        yield from (("simulator", line) for line in last_lines(runtime.settings.data / "simulator.log", LOG_LINES))
    for replicas in runtime.launched.values():
        for one in replicas:
            yield from ((one.name, line) for line in last_lines(one.log, LOG_LINES))
