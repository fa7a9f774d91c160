"""`temper rootfs`: disposable machines on this one, to harden without a spare host."""

from pathlib import Path

import typer
from rich.console import Console

from app.config import Settings
from app.targets.rootfs.base import Base
from app.targets.rootfs.machine import Rootfs

commands = typer.Typer(help="Disposable Debian machines with sshd on loopback.", no_args_is_help=True)


def _machine(data: Path, name: str) -> Rootfs:
    return Rootfs(Settings(data=data).data / "rootfs", name)


def _say(text: str) -> None:
    Console().print(text, markup=False, highlight=False, soft_wrap=True)


def _tell(machine: Rootfs) -> None:
    at = machine.reachable()
    place = f"temper@127.0.0.1:{at.port} --key {at.key} --known-hosts {at.known_hosts}"
    watch = f"--watch root={machine.reachable('root').key}"
    _say(f"{machine.name} is up. To harden it: temper host add {machine.name} {place} {watch}")


@commands.command()
def build(name: str, data: Path = Path("data"), suite: str = "bookworm") -> None:
    """Make a machine. The first one of a suite takes a minute or so."""
    machine = _machine(data, name)
    machine.build(Base(suite))
    _say(f"{name} is built: temper rootfs start {name}")


@commands.command()
def start(name: str, data: Path = Path("data")) -> None:
    """Bring it up and say how it is reached."""
    machine = _machine(data, name)
    machine.start()
    _tell(machine)


@commands.command()
def stop(name: str, data: Path = Path("data")) -> None:
    """End it, with every process of its own."""
    _machine(data, name).stop()
    _say(f"{name} is down.")


@commands.command()
def reset(name: str, data: Path = Path("data")) -> None:
    """As it was built; up again if it was up."""
    machine = _machine(data, name)
    machine.reset()
    if machine.is_up:
        _tell(machine)
    else:
        _say(f"{name} is new: temper rootfs start {name}")


@commands.command()
def discard(name: str, data: Path = Path("data")) -> None:
    """Take it away, with all it holds."""
    _machine(data, name).discard()
    _say(f"{name} is gone.")
