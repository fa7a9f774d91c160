"""Probe subjects of a line-up: one per replica."""

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

import httpx

from app.engines.client import EngineClient, get_dialect
from app.engines.replica_choice import EngineTraffic
from app.errors import BadInput
from app.lineups.model import Engine, Lineup
from app.machine.measuring.engine_memory_estimate import plan_engine
from app.machine.measuring.engine_startup_figures import EngineLoad
from app.machine.measuring.gpu_memory_during_probe import MemoryCards, NoCards
from app.machine.measuring.planned_and_measured_figures import get_computed_or_stated_speed_limit
from app.machine.measuring.probe import ProbeSubject
from app.machine.measuring.probe_figures import FigureOrigin

_HERE = ("127.0.0.1", "localhost", "::1")


def choose_engines(lineup: Lineup, name: str) -> Sequence[Engine]:
    """Return the engine of that name, or all engines for an empty name. Raises BadInput for an unknown name."""
    if not name:
        return tuple(lineup.engines.values())
    if name not in lineup.engines:
        raise BadInput(f"The line-up {lineup.name} has no engine {name!r}: it has {', '.join(lineup.engines)}.")
    return (lineup.engines[name],)


def create_probe_subjects(
    lineup: Lineup,
    engines: Sequence[Engine],
    bases: Mapping[str, Sequence[str]],
    http: httpx.AsyncClient,
    cards: MemoryCards,
    pace: float,
    get_key: Callable[[Engine], str],
    traffic: EngineTraffic,
    loads: Mapping[tuple[str, int], EngineLoad] | None = None,
) -> list[ProbeSubject]:
    return [
        ProbeSubject(
            lineup=lineup.name,
            engine=engine,
            replica=replica,
            client=EngineClient(http, base, key=get_key(engine), dialect=get_dialect(engine)),
            metrics_url=engine.metrics_urls[replica] if replica < len(engine.metrics_urls) else "",
            traffic=traffic,
            cards=_get_cards_unless_remote_and_unmonitored(cards, lineup, engine, base),
            places={gpu.key: gpu.index for gpu in lineup.gpus if gpu.index in engine.replicas[replica]},
            origin=FigureOrigin(True, pace) if engine.simulation else FigureOrigin(),
            limit=get_computed_or_stated_speed_limit(engine, plan_engine(lineup, engine).fit),
            loaded=(loads or {}).get((engine.name, replica)),
        )
        for engine in engines
        for replica, base in enumerate(bases[engine.name])
    ]


def _get_cards_unless_remote_and_unmonitored(
    cards: MemoryCards, lineup: Lineup, engine: Engine, base: str
) -> MemoryCards:
    """Return the card readings, or none for an engine at another machine's address: its GPUs are not here."""
    elsewhere = any(gpu.host for gpu in lineup.gpus if gpu.index in engine.gpus)
    if elsewhere or urlsplit(base).hostname in _HERE:
        return cards
    return NoCards("its GPUs are in another machine: name its DCGM exporter in dcgm_urls, and the host of each GPU")
