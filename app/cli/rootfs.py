"""`temper rootfs`: manage disposable Debian machines for tests without a spare host."""

from pathlib import Path

from rich.console import Console

from app.config import Settings
from app.targets.rootfs.base import Base
from app.targets.rootfs.machine import Rootfs


def build(data: Path, name: str, suite: str) -> None:
    _machine(data, name).build(Base(suite))
    _say(f"{name} is built: temper rootfs start {name}")


def start(data: Path, name: str) -> None:
    machine = _machine(data, name)
    machine.start()
    _tell(machine)


def stop(data: Path, name: str) -> None:
    _machine(data, name).stop()
    _say(f"{name} is down.")


def reset(data: Path, name: str) -> None:
    machine = _machine(data, name)
    machine.reset()
    if machine.is_up:
        _tell(machine)
    else:
        _say(f"{name} is new: temper rootfs start {name}")


def discard(data: Path, name: str) -> None:
    _machine(data, name).discard()
    _say(f"{name} is gone.")


def _machine(data: Path, name: str) -> Rootfs:
    return Rootfs(Settings(data=data).data / "rootfs", name)


def _say(text: str) -> None:
    Console().print(text, markup=False, highlight=False, soft_wrap=True)


def _tell(machine: Rootfs) -> None:
    at = machine.reachable()
    place = f"temper@127.0.0.1:{at.port} --key {at.key} --known-hosts {at.known_hosts}"
    watch = f"--watch root={machine.reachable('root').key}"
    _say(f"{machine.name} is up. To harden it: temper host add {machine.name} {place} {watch}")
