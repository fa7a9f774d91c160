"""Serve every simulated engine on its own port, in one process and one event loop."""

import asyncio
import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn

from app.engines.simulator.answer_script import AnswerScript
from app.engines.simulator.endpoints import create_app
from app.engines.simulator.simulated_engine import SimulatedEngine
from app.errors import BadInput
from app.lineups.model import Lineup

Announce = Callable[[str], None]


@dataclass(frozen=True)
class BoundEngine:
    engine: SimulatedEngine
    listener: socket.socket


def bind_ports(lineup: Lineup, script: AnswerScript, speed: float, host: str, ports: list[int]) -> list[BoundEngine]:
    """Bind every port before serving. Raise BadInput if a port is taken or no engine is simulated."""
    simulated = [engine for engine in lineup.engines.values() if engine.simulation]
    if not simulated:
        raise BadInput(f"No engine of {lineup.name} is simulated: give one a [engines.NAME.simulation] table.")
    ports = ports or [0] * len(simulated)
    if len(ports) != len(simulated):
        raise BadInput(f"{lineup.name} has {len(simulated)} simulated engines and --ports names {len(ports)}.")
    places = []
    for engine, port in zip(simulated, ports, strict=True):
        assert engine.simulation
        gpus = tuple(gpu for gpu in lineup.gpus if gpu.index in engine.gpus)
        places.append(
            BoundEngine(SimulatedEngine(engine, engine.simulation, gpus, script, speed), _open_listener(host, port))
        )
    return places


async def serve_engines(bound_engines: list[BoundEngine], announce: Announce) -> None:
    async with asyncio.TaskGroup() as group:
        for place in bound_engines:
            group.create_task(_serve_engine(place, announce), name=f"engine {place.engine.engine.name}")


def _open_listener(host: str, port: int) -> socket.socket:
    try:
        listener = socket.create_server((host, port))
    except OSError as exc:
        raise BadInput(f"Port {port} on {host} cannot be taken: {exc.strerror}. Choose another, or 0 for any.") from exc
    # Accepted sockets inherit this. asyncio leaves Nagle's algorithm on for a socket that it did not create.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


async def _serve_engine(bound_engine: BoundEngine, announce: Announce) -> None:
    name, port = bound_engine.engine.engine.name, bound_engine.listener.getsockname()[1]
    announcement = {"engine": name, "port": port, "pid": os.getpid(), "simulated": True}
    server = _Server(
        uvicorn.Config(
            create_app(bound_engine.engine),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            headers=[("server", "temper-simulator")],
            timeout_graceful_shutdown=1,
        ),
        lambda: announce(json.dumps(announcement)),
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve(sockets=[bound_engine.listener]), name="http")
        await bound_engine.engine.run()
        server.should_exit = True


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Keep the process's signal handlers: several servers share it, and SIGTERM has no state to save."""
        yield
