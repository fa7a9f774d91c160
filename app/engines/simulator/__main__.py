"""`python -m app.engines.simulator --lineup simulated --speed 1`: serve every simulated engine on its own port."""

import argparse
import asyncio
import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from app.engines.simulator.answer_script import ANSWERS, AnswerScript, read_script
from app.engines.simulator.endpoints import create_app
from app.engines.simulator.simulated_engine import SimulatedEngine
from app.errors import BadInput
from app.lineups.model import Lineup
from app.lineups.reader import read_lineup, require_lineup_path
from app.private_files import set_private_umask


def main() -> int:
    set_private_umask()
    args = _create_parser().parse_args()
    if args.exit_with_parent:
        threading.Thread(target=_wait_for_end_of_stdin_and_exit, name="parent", daemon=True).start()
    try:
        lineup = read_lineup(require_lineup_path(args.lineup))
        places = _bind_ports(lineup, read_script(args.answers), args.speed, args.host, args.ports)
        asyncio.run(_serve_engines(places))
    except BadInput as exc:
        sys.stderr.write(f"{exc}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _create_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m app.engines.simulator",
        description="Plays the engines of a line-up: vLLM's wire, answers from a script, no GPU and no model.",
    )
    parser.add_argument("--lineup", default="simulated", help="a name from lineups/ or a path")
    parser.add_argument(
        "--speed", type=_parse_nonnegative_speed, default=1.0, help="times the measured pace; 0 waits for nothing"
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument(
        "--ports",
        type=_parse_comma_separated_ports,
        default=[],
        help="one per simulated engine, 0 for any: 8101,8102,8103",
    )
    parser.add_argument("--answers", type=Path, default=ANSWERS, help="the folder of scripted answers")
    parser.add_argument("--exit-with-parent", action="store_true", help="end when standard input is closed")
    return parser


def _parse_nonnegative_speed(text: str) -> float:
    speed = float(text)
    if not 0 <= speed < float("inf"):
        raise argparse.ArgumentTypeError("the speed is 0 or more")
    return speed


def _parse_comma_separated_ports(text: str) -> list[int]:
    ports = [int(port) for port in text.split(",")]
    if not all(0 <= port < 65536 for port in ports):
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return ports


def _wait_for_end_of_stdin_and_exit() -> None:
    """Exit when standard input closes. It avoids sys.stdin, whose lock a daemon thread must not hold at shutdown."""
    while os.read(0, 4096):
        pass
    os._exit(0)


@dataclass(frozen=True)
class _BoundEngine:
    engine: SimulatedEngine
    listener: socket.socket


def _bind_ports(lineup: Lineup, script: AnswerScript, speed: float, host: str, ports: list[int]) -> list[_BoundEngine]:
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
        played = SimulatedEngine(engine, engine.simulation, gpus, script, speed)
        places.append(_BoundEngine(played, _open_listener(host, port)))
    return places


async def _serve_engines(bound_engines: list[_BoundEngine]) -> None:
    async with asyncio.TaskGroup() as group:
        for place in bound_engines:
            group.create_task(_serve_engine(place), name=f"engine {place.engine.engine.name}")


def _open_listener(host: str, port: int) -> socket.socket:
    try:
        listener = socket.create_server((host, port))
    except OSError as exc:
        raise BadInput(f"Port {port} on {host} cannot be taken: {exc.strerror}. Choose another, or 0 for any.") from exc
    # Accepted sockets inherit this. asyncio leaves Nagle's algorithm on for a socket that it did not create.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


async def _serve_engine(bound_engine: _BoundEngine) -> None:
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
        json.dumps(announcement),
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve(sockets=[bound_engine.listener]), name="http")
        await bound_engine.engine.run()
        server.should_exit = True


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, announcement: str) -> None:
        super().__init__(config)
        self._announcement = announcement

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        print(self._announcement, flush=True)  # noqa: T201

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Keep the process's signal handlers: several servers share it, and SIGTERM has no state to save."""
        yield


if __name__ == "__main__":
    sys.exit(main())
