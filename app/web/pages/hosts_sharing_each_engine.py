"""Which hosts use each engine while several runs are active, read from the log for now or a past moment."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from threading import Lock
from typing import Annotated

from fastapi import Depends, Request

from app.events.event_field_types import Role
from app.events.kinds import TurnStarted
from app.events.record import Recorded, parse_line
from app.lineups.model import Lineup
from app.machine.sampling.engine_outages_from_log import EngineOutage, RecentOutages
from app.people.rights import get_visible_runs_or_none_for_all
from app.store.events import EventStore, RunSpan
from app.web.pages.mission.engine_use_times import (
    HOLD_SECONDS,
    EngineHold,
    EngineHolds,
    GapBar,
    HoldBar,
    draw_hold_bars_outside_outages,
    draw_outage_gaps,
)
from app.web.pages.mission.turn_lane import ROLES
from app.web.pages.templating import render_template_to_text

TURNS = ("turn.started", "turn.finished", "turn.interrupted")
LONGEST_TURN = 900.0
"""Seconds. The longest turn to expect: turns that started earlier are not read."""
MOST_LANES = 6
"""Hosts that are named and get a lane: the ones that used the engine last. The rest are counted."""


@dataclass(frozen=True)
class ServedHost:
    role: Role
    host: str


@dataclass(frozen=True)
class HostLane:
    host: str
    run: str
    bars: tuple[HoldBar, ...]
    share: int
    """Percentage of the time in which it decoded."""


@dataclass(frozen=True)
class HostHolds:
    """A host's holds of one engine in the last two minutes."""

    host: str
    run: str
    holds: tuple[EngineHold, ...]


@dataclass(frozen=True)
class EngineShare:
    serving: tuple[ServedHost, ...] = ()
    """Newest first."""
    lanes: tuple[HostLane, ...] = ()
    """Sorted by host; empty if no two hosts used the engine at the same time."""
    more: int = 0
    """Hosts without a lane."""
    decoding: bool = False
    """A turn that it serves has its first token."""
    gaps: tuple[GapBar, ...] = ()
    """When it did not answer; on every lane."""
    at: float = 0.0
    """The time at the end of the lanes."""
    seconds: int = int(HOLD_SECONDS)

    @property
    def shown_hosts_by_role(self) -> list[tuple[Role, list[str]]]:
        """Hosts by role, in a stable order so that names do not move on the page."""
        shown = self.serving[:MOST_LANES]
        told = [
            (role, sorted((one.host for one in shown if one.role == role), key=_get_order_by_length_then_name))
            for role in ROLES
        ]
        return [(role, hosts) for role, hosts in told if hosts]

    @property
    def unnamed_count(self) -> int:
        return max(0, len(self.serving) - MOST_LANES)


@dataclass
class RunHolds:
    run: str
    host: str
    seq: int = 0
    """The last seq whose turn was read."""
    began: int = 0
    """The seq at which its newest turn started."""
    holds: EngineHolds = field(default_factory=EngineHolds)
    over: bool = False
    """The run has ended and all its turns were read."""

    def apply_events(self, events: Iterable[Recorded]) -> None:
        for one in events:
            self.holds.apply_event(one.event, one.at)
            self.seq = one.seq
            if isinstance(one.event, TurnStarted):
                self.began = one.seq


class Sharing:
    """Shares of each engine; one instance per application, thread-safe. Logs are append-only, so folds are reused."""

    def __init__(self, store: EventStore, clock: Callable[[], float] = time.time) -> None:
        self._store, self.clock, self._outages = store, clock, RecentOutages(store, HOLD_SECONDS)
        self._known: dict[str, RunHolds] = {}
        self._lock = Lock()

    def read_current_shares_by_engine(
        self, now: float, hosts: Collection[str] | None = None
    ) -> Mapping[str, EngineShare]:
        """Return the current share of each engine, optionally for `hosts` only."""
        with self._lock:
            spans = self._store.list_run_spans(now - HOLD_SECONDS, now)
            self._known = {one.run: self._known.get(one.run) or RunHolds(one.run, one.host) for one in spans}
            for span in spans:
                self._apply_unread_turns(self._known[span.run], span, now)
            wanted = [one for one in self._known.values() if hosts is None or one.host in hosts]
            return compute_shares(wanted, now, self._outages.read_outages(now))

    def read_shares_at(self, at: float | None) -> Mapping[str, EngineShare]:
        """Return the shares of now, or of a past moment."""
        return self.read_current_shares_by_engine(self.clock()) if at is None else self.read_past_shares_by_engine(at)

    def read_past_shares_by_engine(self, at: float) -> Mapping[str, EngineShare]:
        found = []
        for span in self._store.list_run_spans(at - HOLD_SECONDS, at):
            found.append(known := RunHolds(span.run, span.host))
            self._apply_unread_turns(known, span, at, self._store.get_seq_at(span.run, at))
        return compute_shares(found, at, self._outages.read_outages(at))

    def _apply_unread_turns(self, run_holds: RunHolds, span: RunSpan, at: float, upto_seq: int | None = None) -> None:
        """Apply the turns that were not read yet, up to the seq `upto_seq` of a past moment."""
        if run_holds.over:
            return
        since = 0.0 if run_holds.seq else at - HOLD_SECONDS - LONGEST_TURN
        unread = self._store.read_events(run_holds.run, after=run_holds.seq, upto=upto_seq, kinds=TURNS, since=since)
        run_holds.apply_events(unread)
        self._apply_first_token(run_holds, upto_seq)
        if span.ended_at is not None and (upto_seq is None or span.ended_at <= at):
            run_holds.holds.close_all(span.ended_at)
            run_holds.over = True

    def _apply_first_token(self, run_holds: RunHolds, upto_seq: int | None) -> None:
        """Apply the first token of the turn in progress. The end of a turn has that time already."""
        if run_holds.holds.reading:
            for _, line, digest in self._store.read_lines(
                run_holds.run, run_holds.began, upto_seq, ["turn.delta"], limit=1
            ):
                first = parse_line(line, digest)
                run_holds.holds.apply_event(first.event, first.at)


async def _get_sharing_or_none_for_guest(request: Request) -> Sharing | None:
    sharing: Sharing = request.app.state.sharing
    return sharing if get_visible_runs_or_none_for_all() is None else None


TheSharing = Annotated[Sharing | None, Depends(_get_sharing_or_none_for_guest)]
"""None for a guest who may see one run only."""


def render_shares_by_engine(lineup: Lineup, shares: Mapping[str, EngineShare]) -> dict[str, str]:
    """Return inner HTML by engine."""
    return {
        name: render_template_to_text("partials/_share.html", share=shares.get(name, EngineShare()))
        for name in lineup.engines
    }


def compute_shares(
    runs: Sequence[RunHolds], now: float, outages: Sequence[EngineOutage] = ()
) -> dict[str, EngineShare]:
    shares = {}
    for name in dict.fromkeys(name for one in runs for name in one.holds.by_engine):
        held = [(one, one.holds.by_engine[name]) for one in runs if name in one.holds.by_engine]
        shares[name] = _build_served_hosts_and_lanes(held, now, [one for one in outages if one.engine == name])
    return shares


def _build_served_hosts_and_lanes(
    holds_by_run: Sequence[tuple[RunHolds, list[EngineHold]]], now: float, outages: Sequence[EngineOutage]
) -> EngineShare:
    hosts: dict[str, HostHolds] = {}
    for one, holds in sorted(holds_by_run, key=lambda of: of[1][-1].since):
        if recent := tuple(hold for hold in holds if hold.is_recent(now)):
            before = hosts[one.host].holds if one.host in hosts else ()  # runs on one host never overlap
            hosts[one.host] = HostHolds(one.host, one.run, (*before, *recent))
    last = sorted(hosts.values(), key=lambda one: one.holds[-1].since, reverse=True)
    working = [one for one in last if one.holds[-1].until is None]
    serving = tuple(ServedHost(one.holds[-1].role, one.host) for one in working)
    decoding = any(one.holds[-1].first is not None for one in working)
    if not _has_overlap([one.holds for one in last]):
        return EngineShare(serving, decoding=decoding)
    drawn = [_build_host_lane(one, now, outages) for one in last[:MOST_LANES]]
    lanes = sorted(drawn, key=lambda lane: _get_order_by_length_then_name(lane.host))
    gaps = tuple(draw_outage_gaps(outages, now, HOLD_SECONDS))
    return EngineShare(serving, tuple(lanes), max(0, len(last) - MOST_LANES), decoding, gaps, now)


def _has_overlap(holds_by_host: Sequence[Sequence[EngineHold]]) -> bool:
    """Return True if two hosts held the engine at the same time. The holds of one host never overlap."""
    times = sorted(
        (hold.since, hold.until or float("inf"), host) for host, holds in enumerate(holds_by_host) for hold in holds
    )
    return any(host != other and since < until for (_, until, host), (since, _, other) in pairwise(times))


def _build_host_lane(host_holds: HostHolds, now: float, outages: Sequence[EngineOutage]) -> HostLane:
    drawn = tuple(draw_hold_bars_outside_outages(host_holds.holds, now, HOLD_SECONDS, outages))
    decoded = sum(bar.width for bar in drawn if not bar.prefill)
    return HostLane(host_holds.host, host_holds.run, drawn, round(decoded))


def _get_order_by_length_then_name(host: str) -> tuple[int, str]:
    """Sort key that puts web-2 before web-10."""
    return len(host), host
