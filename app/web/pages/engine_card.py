"""The card of an engine on the operator's console and on the fleet page."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from app.engines.queue import QueueStatus
from app.events.kinds import EngineSampled
from app.events.vocabulary import Role
from app.lineups.model import Engine
from app.runtime.runtime import Runtime
from app.web.pages.engine_sharing import EngineShare

FLOWS_SECONDS = 5.0
"""A token rate older than this is not shown as current."""
FLOWING, TROUBLE = ("ready", "degraded", "stalled"), ("dead", "stalled", "degraded", "absent")


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
    def trouble(self) -> bool:
        return self.state in TROUBLE

    @property
    def serving(self) -> tuple[Role, ...]:
        """Roles that it serves now."""
        return tuple(dict.fromkeys(one.role for one in self.share.serving)) if self.now else ()

    @property
    def median_wait(self) -> float | None:
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
        now=select_fresh_sample(sample, state, None if at is None else now - at),
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


def select_fresh_sample(sample: EngineSampled | None, state: str, age: float | None) -> EngineSampled | None:
    """Return the sample if the engine is up and the sample is fresh, else None."""
    return sample if sample and state in FLOWING and (age is None or age <= FLOWS_SECONDS) else None
