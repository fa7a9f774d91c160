"""Run the simulator: `python -m app.engines.simulator --lineup simulated --speed 1`."""

import argparse
import asyncio
import os
import sys
import threading
from pathlib import Path

from app.engines.simulator.answer_script import ANSWERS, read_script
from app.engines.simulator.engine_servers import bind_ports, serve_engines
from app.errors import BadInput
from app.lineups.reader import find_lineup_path, read_lineup
from app.private_files import set_private_umask


def main() -> int:
    set_private_umask()
    args = _create_parser().parse_args()
    if args.exit_with_parent:
        threading.Thread(target=_exit_with_stdin, name="parent", daemon=True).start()
    try:
        lineup = read_lineup(find_lineup_path(args.lineup))
        places = bind_ports(lineup, read_script(args.answers), args.speed, args.host, args.ports)
        asyncio.run(serve_engines(places, _print_announcement))
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
    parser.add_argument("--speed", type=_parse_speed, default=1.0, help="times the measured pace; 0 waits for nothing")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument(
        "--ports", type=_parse_ports, default=[], help="one per simulated engine, 0 for any: 8101,8102,8103"
    )
    parser.add_argument("--answers", type=Path, default=ANSWERS, help="the folder of scripted answers")
    parser.add_argument("--exit-with-parent", action="store_true", help="end when standard input is closed")
    return parser


def _parse_speed(text: str) -> float:
    speed = float(text)
    if not 0 <= speed < float("inf"):
        raise argparse.ArgumentTypeError("the speed is 0 or more")
    return speed


def _parse_ports(text: str) -> list[int]:
    ports = [int(port) for port in text.split(",")]
    if not all(0 <= port < 65536 for port in ports):
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return ports


def _print_announcement(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _exit_with_stdin() -> None:
    """Exit when standard input closes. It avoids sys.stdin, whose lock a daemon thread must not hold at shutdown."""
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
