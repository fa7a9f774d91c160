"""The card of an engine on the operator's console and on the fleet page."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

import msgspec

from app.engines.queue import QueueStatus
from app.events.event_field_types import Role
from app.events.kinds import EngineSampled
from app.lineups.model import Engine
from app.runtime.runtime import Runtime
from app.web.pages.hosts_sharing_each_engine import EngineShare

FLOWS_SECONDS = 5.0
"""A token rate older than this is not shown as current."""
STALE_SECONDS = 12.0
"""An older sample does not describe the present. Without viewers one is taken every ten seconds."""
FLOWING, TROUBLE = ("ready", "degraded"), ("dead", "stalled", "degraded", "absent")
SILENT = ("dead", "stalled", "absent")
"""States in which an engine does not answer, so that no figure describes it."""


@dataclass(frozen=True)
class EngineCard:
    engine: Engine
    roles: tuple[Role, ...]
    share: EngineShare
    state: str
    detail: str
    since: float | None
    sample: EngineSampled | None
    now: EngineSampled | None
    """The same if it describes the present, else None."""
    limit: float | None
    pace: float | None
    waits: tuple[float, ...]
    """Times to first token in the last 15 minutes, in seconds."""
    queue: QueueStatus
    handle: str
    """start or stop if this process launched the engine, else empty."""

    @property
    def is_in_trouble(self) -> bool:
        return self.state in TROUBLE

    @property
    def roles_served_now(self) -> tuple[Role, ...]:
        """Roles that it serves now."""
        return tuple(dict.fromkeys(one.role for one in self.share.serving)) if self.state in FLOWING else ()

    @property
    def state_word_ignoring_served_roles(self) -> str:
        """What it does if it serves no role: idle, not answering, or the state that it is in."""
        return "not answering" if self.state in SILENT else "idle" if self.state in FLOWING else self.state

    @property
    def median_first_token_seconds(self) -> float | None:
        return median(self.waits) if self.waits else None


def build_engine_cards(runtime: Runtime, shares: Mapping[str, EngineShare], now: float) -> list[EngineCard]:
    engines = runtime.lineup.engines.values()
    return [_build_engine_card(runtime, engine, shares.get(engine.name, EngineShare()), now) for engine in engines]


def _build_engine_card(runtime: Runtime, engine: Engine, share: EngineShare, now: float) -> EngineCard:
    board, name, pace = runtime.board, engine.name, runtime.settings.speed
    since, event = board.states.get(name, (None, None))
    at, sample = board.engines.get(name, (None, None))
    state = event.state if event else ""
    return EngineCard(
        engine=engine,
        roles=tuple(role for role, seat in runtime.lineup.seats.items() if seat.engine == name),
        share=share,
        state=state or "not seen yet",
        detail=event.detail if event else "",
        since=since,
        sample=sample,
        now=select_current_sample(sample, state, None if at is None else now - at, share),
        limit=scale_speed_limit(engine, pace),
        pace=pace if engine.simulation and pace != 1 else None,
        waits=tuple(wait for _, wait in board.waits.get(name, ())),
        queue=runtime.queues.get_queue(name).status,
        handle="" if name not in runtime.launched else "start" if state in ("dead", "absent", "") else "stop",
    )


def scale_speed_limit(engine: Engine, pace: float) -> float | None:
    """Return the token rate limit of one request, times the pace of a simulated engine; None if there is no limit."""
    if engine.limit_tok_s is None or (engine.simulation and not pace):
        return None
    return engine.limit_tok_s * (pace if engine.simulation else 1)


def select_current_sample(
    sample: EngineSampled | None, state: str, age: float | None, share: EngineShare
) -> EngineSampled | None:
    """Return the sample if it describes the present, else None: the engine is silent, or the sample is old.

    A sample covers the second before it. Where a turn has begun or ended since, it contradicts the turn that the page
    shows, and is not of the present."""
    if not sample or state not in FLOWING or (age or 0.0) > STALE_SECONDS:
        return None
    held, foreign = bool(share.serving), bool(sample.foreign)
    if held != bool(sample.running) and not (foreign and not held):
        return None
    flows = (not share.decoding or bool(sample.tok_s)) if held else (foreign or not sample.tok_s)
    return sample if flows and (age or 0.0) <= FLOWS_SECONDS else msgspec.structs.replace(sample, tok_s=None)
