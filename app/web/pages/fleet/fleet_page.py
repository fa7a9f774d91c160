"""Renders the parts of the fleet pages, for the page and for its stream."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock

import msgspec
from sqlmodel import Session

from app.events.record import Recorded
from app.loop.state import RunState
from app.runs.rollout.rollout_state import HostPart, RolloutState
from app.runs.shared_field_checks import load_known_skill
from app.runtime.health_reading import read_marker_of_change_on_any_page
from app.runtime.runtime import Runtime
from app.store import run_queries
from app.store.host_rule_states import list_seen_skills
from app.store.models import RunRow
from app.store.rollouts import (
    RolloutRow,
    find_runs_by_id,
    list_newest_rollouts,
    list_unended_rollouts,
    read_rollout_events,
)
from app.store.session_shared_within_request import open_read_session
from app.web.pages.engine_card import build_engine_cards
from app.web.pages.fleet.fleet_cache import FleetBoard, read_rule_titles, select_lines_or_blanks
from app.web.pages.fleet.grid import WORDS, count_cells
from app.web.pages.hosts_sharing_each_engine import Sharing
from app.web.pages.live_parts import LiveParts
from app.web.pages.mission.feed import to_feed_line
from app.web.pages.templating import render_template_to_text
from app.web.stream.fold_cache import RolloutStateCache, RunStateCache
from app.web.stream.recently_used import RecentlyUsed
from app.web.stream.sse_messages import encode_message

USUAL_SKILL = "stig"
MOST_BOARDS, SHOWN_AT_WORK, SHOWN_ALARMS, FEED = 8, 40, 4, 80
MOST_FOLDED = 24
"""Most runs to fold for their current item; for others only the row is used."""
_TALLIED = ("findings", "passed", "escalated", "deferred", "skipped", "waived", "rolled_back")
RECENT = 6
"""Ended rollouts to list."""


@dataclass(frozen=True)
class RolloutCard:
    row: RolloutRow
    state: RolloutState
    done: int
    at_work: int
    harmed: int
    wave: int
    """The current wave; 0 if all hosts are done."""

    @property
    def done_percent(self) -> float:
        return round(100 * self.done / max(1, len(self.state.parts)), 1)


@dataclass(frozen=True)
class ActiveRun:
    row: RunRow
    item: str
    title: str
    role: str
    """The role that has the turn, or empty."""
    waits: bool


class Fleet:
    """Boards and streams of the fleet pages; one instance per application."""

    def __init__(self, runtime: Runtime, folds: RunStateCache, rollouts: RolloutStateCache, sharing: Sharing) -> None:
        self.runtime, self._folds, self._rollouts, self._sharing = runtime, folds, rollouts, sharing
        self._boards = RecentlyUsed[str, FleetBoard](MOST_BOARDS)
        self._lives = RecentlyUsed[tuple[str, str], FleetStream](4 * MOST_BOARDS)
        self._lock = Lock()

    def refresh_board(self, session: Session, skill: str) -> FleetBoard:
        with self._lock:
            board = self._boards.keep(skill, self._boards.get(skill) or FleetBoard(skill))
        board.read_changes(session, self.runtime.settings.hosts_folder)
        return board

    def get_last_read_or_empty_board(self, skill: str) -> FleetBoard:
        """Return the board as of its last read."""
        with self._lock:
            return self._boards.setdefault(skill, FleetBoard(skill))

    def open_stream(self, skill: str, rollout: str) -> "FleetStream":
        with self._lock:
            key = skill, rollout
            return self._lives.keep(key, self._lives.get(key) or FleetStream(self, skill, rollout))

    def has_news(self) -> bool:
        return any(live.has_news() for live in tuple(self._lives.values()))

    def read_rollout_state(self, session: Session, rollout: str) -> RolloutState:
        return self._rollouts.read_current(session, rollout)

    def require_skill_and_choices(self, session: Session, wanted: str) -> tuple[str, list[str]]:
        """Return the skill to show and all skills to choose from. Raise Rejected if there is no such skill."""
        seen = list_seen_skills(session)
        if wanted and wanted not in seen:
            load_known_skill(wanted)
        chosen = wanted or (seen[0] if seen else USUAL_SKILL)
        return chosen, list(dict.fromkeys([*seen, chosen]))

    def render_parts(self, session: Session, skill: str, rollout: str) -> dict[str, str]:
        """Read the board and return inner HTML by element id."""
        board = self.refresh_board(session, skill)
        state = self.read_rollout_state(session, rollout) if rollout else None
        lines = select_lines_or_blanks(board.lines, list(state.parts)) if state else list(board.lines.values())
        own = {part.run for part in state.parts.values() if part.run} if state else set()
        runs = [run for run in run_queries.list_unended_runs(session) if not state or run.id in own]
        cards = [self._build_rollout_card(session, row) for row in list_unended_rollouts(session)]
        states = fold_begun_runs_up_to_limit(self._folds, runs)
        work = list_active_runs(runs, states, read_rule_titles(skill))
        now = self._sharing.clock()
        shares = self._sharing.read_current_shares_by_engine(now, state.parts if state else None)
        alarmed = [line for line in lines if line.alarm and (not state or line.run in own)]
        alarms = sorted(alarmed, key=lambda line: line.at, reverse=True)
        drawn = {
            "fleet-sum": render_template_to_text(
                "partials/_fleet_sum.html",
                hosts=len(lines),
                sums={} if state else count_cells(lines),
                words=WORDS,
                runs=runs,
                alarms=len(alarms),
                tally=count_findings_by_outcome(find_runs_by_id(session, sorted(own)).values()) if state else None,
            ),
            "fleet-asks": render_template_to_text(
                "partials/_fleet_asks.html",
                cards=[card for card in cards if card.state.is_paused_by_rule and not state],
                alarms=alarms[:SHOWN_ALARMS],
                more=len(alarms) - SHOWN_ALARMS,
                waiting=[card for card in work if card.waits],
            ),
            "fleet-work": render_template_to_text(
                "partials/_fleet_work.html", cards=work[:SHOWN_AT_WORK], more=len(work) - SHOWN_AT_WORK
            ),
            "fleet-engines": render_template_to_text(
                "partials/_fleet_engines.html", cards=build_engine_cards(self.runtime, shares, now)
            ),
        }
        if state:
            card = self._build_rollout_card(session, session.get_one(RolloutRow, rollout))
            drawn["fleet-rollout"] = render_template_to_text("partials/_fleet_rollout.html", card=card)
            drawn["fleet-hosts"] = render_template_to_text(
                "partials/_fleet_hosts.html", parts=_list_parts_by_trouble(state)
            )
            told = list(read_rollout_events(session, rollout, state.seq - FEED))
            drawn["fleet-feed"] = render_template_to_text(
                "partials/_fleet_feed.html", feed=[line for line in map(to_feed_line, reversed(told)) if line]
            )
        else:
            over = [row for row in list_newest_rollouts(session, RECENT) if row.ended_at]
            drawn["fleet-rollouts"] = render_template_to_text("partials/_fleet_rollouts.html", cards=cards, over=over)
        return drawn

    def render_parts_in_own_session(self, skill: str, rollout: str) -> dict[str, str]:
        with open_read_session(self.runtime.database) as session:
            return self.render_parts(session, skill, rollout)

    def _build_rollout_card(self, session: Session, row: RolloutRow) -> RolloutCard:
        state = self.read_rollout_state(session, row.id)
        parts = state.parts.values()
        return RolloutCard(
            row=row,
            state=state,
            done=sum(part.is_over for part in parts),
            at_work=len(state.parts_at_work),
            harmed=sum(bool(part.ended and part.ended.harm) for part in parts),
            wave=min((part.wave for part in parts if not part.is_over), default=0),
        )


def count_findings_by_outcome(runs: Collection[RunRow]) -> dict[str, int]:
    """Return the findings of these runs so far, by outcome."""
    return {name: sum(getattr(run, name) for run in runs) for name in _TALLIED}


class FleetStream:
    """Live parts of the fleet page, plus the lines of hosts that changed."""

    def __init__(self, fleet: Fleet, skill: str, rollout: str) -> None:
        self.name = f"fleet {skill} {rollout}"
        signs = partial(read_marker_of_change_on_any_page, fleet.runtime)
        self._parts = LiveParts(
            self.name, lambda: fleet.render_parts_in_own_session(skill, rollout), "innerMorph", signs
        )
        self._fleet, self._skill = fleet, skill
        self._sent = 0

    def has_news(self) -> bool:
        return self._parts.has_news()

    def __call__(self, _: Sequence[Recorded]) -> bytes:
        parts, board = self._parts([]), self._fleet.get_last_read_or_empty_board(self._skill)
        sent, self._sent = self._sent, board.version
        return parts + _encode_changed_lines(board, sent) + encode_message(b"{}", name="looked")

    def render_all_parts_and_changed_lines(self, since_version: int) -> bytes:
        parts, board = self._parts.render_all(), self._fleet.get_last_read_or_empty_board(self._skill)
        self._sent = self._sent or board.version
        return parts + _encode_changed_lines(board, since_version)


class FleetViewer:
    """One viewer of a FleetStream. It first gets the lines that changed since its page was rendered."""

    def __init__(self, live: FleetStream, since: int) -> None:
        self.name = live.name
        self._live, self._since = live, since

    def __call__(self, batch: Sequence[Recorded]) -> bytes:
        return self._live(batch)

    def render_all(self) -> bytes:
        return self._live.render_all_parts_and_changed_lines(self._since)


def _encode_changed_lines(board: FleetBoard, since: int) -> bytes:
    changed = [line.wire_text for line in board.list_changed_since(since)]
    told = {"columns": len(board.columns), "lines": changed}
    return encode_message(msgspec.json.encode(told), name="fleet") if changed else b""


def _list_parts_by_trouble(state: RolloutState) -> list[HostPart]:
    """Return up to 60 hosts: harmed first, then running, then the latest to end, then waiting."""
    parts = list(state.parts.values())
    harmed = [
        part for part in parts if part.left or (part.ended and (part.ended.harm or part.ended.state != "finished"))
    ]
    ended = [state.parts[host] for host in reversed(state.ends) if state.parts[host] not in harmed]
    waiting = [part for part in parts if not part.run and not part.left]
    return [*harmed, *state.parts_at_work, *ended, *waiting][:60]


def fold_begun_runs_up_to_limit(folds: RunStateCache, runs: Sequence[RunRow]) -> dict[str, RunState]:
    begun = [run.id for run in runs if run.state != "queued"]
    return {run: folds.read_current(run) for run in begun[:MOST_FOLDED]}


def list_active_runs(
    runs: Sequence[RunRow], states: Mapping[str, RunState], titles: Mapping[str, str]
) -> list[ActiveRun]:
    """Return the active runs: waiting for a person first, then running, paused and queued."""
    cards = [_build_active_run(run, states.get(run.id), titles) for run in runs]
    turn = {"running": 0, "paused": 1, "queued": 2}
    return sorted(cards, key=lambda card: (not card.waits, turn.get(card.row.state, 3)))


def _build_active_run(run: RunRow, state: RunState | None, titles: Mapping[str, str]) -> ActiveRun:
    if state is None:
        return ActiveRun(run, "", "", "", waits=False)
    item = state.working or ""
    return ActiveRun(run, item, titles.get(item, ""), state.turn.role if state.turn else "", state.awaits_person)
