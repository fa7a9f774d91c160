"""Renders the parts of the fleet pages, for the page and for its stream."""

import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import msgspec
from sqlmodel import Session

from app.events.record import Recorded
from app.runs.rollout.state import HostPart, RolloutState
from app.runs.rollout.telling import outcome, rollout_telling
from app.runtime.runtime import Runtime
from app.store import queries
from app.store.held import asking
from app.store.rollouts import RolloutRow, events_of, rollouts, unended_rollouts
from app.store.standing import skills_seen
from app.web.pages.fleet.board import FleetBoard, only_of, titles
from app.web.pages.fleet.picture import WORDS, totals
from app.web.pages.fleet.work import at_work, engines_at_work, states_of
from app.web.pages.live_parts import LiveParts
from app.web.pages.mission.feed import FeedLine
from app.web.pages.sharing import Sharing
from app.web.pages.templating import rendered
from app.web.stream.folds import Folds
from app.web.stream.message import message
from app.web.stream.rollout_folds import RolloutFolds

USUAL_SKILL = "stig"
MOST_BOARDS, SHOWN_AT_WORK, SHOWN_ALARMS, FEED = 8, 40, 4, 80
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
    def share(self) -> float:
        return round(100 * self.done / max(1, len(self.state.parts)), 1)


class Fleet:
    """Boards and streams of the fleet pages; one instance per application."""

    def __init__(self, runtime: Runtime, folds: Folds, rollouts: RolloutFolds, sharing: Sharing) -> None:
        self.runtime, self._folds, self._rollouts, self._sharing = runtime, folds, rollouts, sharing
        self._boards: OrderedDict[str, FleetBoard] = OrderedDict()
        self._lives: OrderedDict[tuple[str, str], FleetLive] = OrderedDict()
        self._lock = Lock()

    def board(self, session: Session, name: str) -> FleetBoard:
        with self._lock:
            board = self._boards.setdefault(name, FleetBoard(name))
            self._boards.move_to_end(name)
            while len(self._boards) > MOST_BOARDS:
                self._boards.popitem(last=False)
        board.read(session, self.runtime.settings.hosts)
        return board

    def as_read(self, name: str) -> FleetBoard:
        """Return the board as of its last read."""
        with self._lock:
            return self._boards.setdefault(name, FleetBoard(name))

    def live(self, name: str, rollout: str) -> "FleetLive":
        with self._lock:
            live = self._lives.setdefault((name, rollout), FleetLive(self, name, rollout))
            self._lives.move_to_end((name, rollout))
            while len(self._lives) > 4 * MOST_BOARDS:
                self._lives.popitem(last=False)
            return live

    def rollout(self, session: Session, rollout: str) -> RolloutState:
        return self._rollouts.now(session, rollout)

    def skill(self, session: Session, wanted: str) -> tuple[str, list[str]]:
        """Return the skill to show and all skills to choose from."""
        seen = skills_seen(session)
        chosen = wanted or (seen[0] if seen else USUAL_SKILL)
        return chosen, list(dict.fromkeys([*seen, chosen]))

    def parts(self, session: Session, name: str, rollout: str) -> dict[str, str]:
        """Read the board and return inner HTML by element id."""
        board = self.board(session, name)
        state = self.rollout(session, rollout) if rollout else None
        lines = only_of(board.lines, list(state.parts)) if state else list(board.lines.values())
        runs = [run for run in queries.unended(session) if not state or run.host in state.parts]
        cards = [self._card(session, row) for row in unended_rollouts(session)]
        states = states_of(self._folds, runs)
        led = {part.run: card.row.id for card in cards for part in card.state.at_work}
        work = at_work(runs, states, led, titles(name))
        now = time.time()
        shares = self._sharing.now(now, state.parts if state else None)
        alarms = sorted((line for line in lines if line.alarm), key=lambda line: line.at, reverse=True)
        drawn = {
            "fleet-sum": rendered(
                "partials/_fleet_sum.html",
                hosts=len(lines),
                sums=totals(lines),
                words=WORDS,
                runs=runs,
                alarms=len(alarms),
            ),
            "fleet-asks": rendered(
                "partials/_fleet_asks.html",
                cards=_asking(cards, rollout),
                alarms=alarms[:SHOWN_ALARMS],
                more=len(alarms) - SHOWN_ALARMS,
                waiting=[card for card in work if card.waits],
            ),
            "fleet-work": rendered(
                "partials/_fleet_work.html", cards=work[:SHOWN_AT_WORK], more=len(work) - SHOWN_AT_WORK
            ),
            "fleet-engines": rendered("partials/_fleet_engines.html", cards=engines_at_work(self.runtime, shares, now)),
        }
        if state:
            card = self._card(session, session.get_one(RolloutRow, rollout))
            drawn["fleet-rollout"] = rendered("partials/_fleet_rollout.html", card=card)
            drawn["fleet-hosts"] = rendered("partials/_fleet_hosts.html", parts=_trouble_first(state), outcome=outcome)
            drawn["fleet-feed"] = rendered(
                "partials/_fleet_feed.html", feed=_feed(list(events_of(session, rollout, state.seq - FEED)))
            )
        else:
            over = [row for row in rollouts(session, RECENT) if row.ended_at]
            drawn["fleet-rollouts"] = rendered("partials/_fleet_rollouts.html", cards=cards, over=over)
        return drawn

    def drawn(self, name: str, rollout: str) -> dict[str, str]:
        with asking(self.runtime.database) as session:
            return self.parts(session, name, rollout)

    def _card(self, session: Session, row: RolloutRow) -> RolloutCard:
        state = self.rollout(session, row.id)
        parts = state.parts.values()
        return RolloutCard(
            row=row,
            state=state,
            done=sum(part.over for part in parts),
            at_work=len(state.at_work),
            harmed=sum(bool(part.ended and part.ended.harm) for part in parts),
            wave=min((part.wave for part in parts if not part.over), default=0),
        )


class FleetLive:
    """Live parts of the fleet page, plus the lines of hosts that changed."""

    def __init__(self, fleet: Fleet, skill: str, rollout: str) -> None:
        self.name = f"fleet {skill} {rollout}"
        self._parts = LiveParts(self.name, lambda: fleet.drawn(skill, rollout), "innerMorph")
        self._fleet, self._skill = fleet, skill
        self._sent = 0

    def __call__(self, _: Sequence[Recorded]) -> bytes:
        parts, board = self._parts([]), self._fleet.as_read(self._skill)
        sent, self._sent = self._sent, board.version
        return parts + _lines(board, sent) + message(b"{}", name="looked")

    def whole(self, since: int) -> bytes:
        parts, board = self._parts.whole(), self._fleet.as_read(self._skill)
        self._sent = self._sent or board.version
        return parts + _lines(board, since)


class FleetWatch:
    """One viewer of a FleetStream. It first gets the lines that changed since its page was rendered."""

    def __init__(self, live: FleetLive, since: int) -> None:
        self.name = live.name
        self._live, self._since = live, since

    def __call__(self, batch: Sequence[Recorded]) -> bytes:
        return self._live(batch)

    def whole(self) -> bytes:
        return self._live.whole(self._since)


def _lines(board: FleetBoard, since: int) -> bytes:
    changed = [line.wire for line in board.since(since)]
    told = {"columns": len(board.columns), "lines": changed}
    return message(msgspec.json.encode(told), name="fleet") if changed else b""


def _asking(cards: Sequence[RolloutCard], rollout: str) -> list[RolloutCard]:
    return [card for card in cards if card.state.asks and card.row.id != rollout]


def _trouble_first(state: RolloutState) -> list[HostPart]:
    """Return up to 60 hosts: harmed first, then running, then the latest to end, then waiting."""
    parts = list(state.parts.values())
    harmed = [
        part for part in parts if part.left or (part.ended and (part.ended.harm or part.ended.state != "finished"))
    ]
    ended = [state.parts[host] for host in reversed(state.ends) if state.parts[host] not in harmed]
    waiting = [part for part in parts if not part.run and not part.left]
    return [*harmed, *state.at_work, *ended, *waiting][:60]


def _feed(events: Sequence[Recorded]) -> list[FeedLine]:
    told = ((one, rollout_telling(one.event)) for one in reversed(events))
    return [FeedLine(one.seq, one.at, said.glyph, said.kind, said.text) for one, said in told if said]
