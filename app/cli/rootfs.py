"""`temper rootfs`: manage disposable Debian machines for tests without a spare host."""

from pathlib import Path

from rich.console import Console

from app.config import Settings
from app.targets.rootfs.base_image import BaseImage
from app.targets.rootfs.machine import Rootfs


def build_machine(data: Path, name: str, suite: str) -> None:
    _open_machine(data, name).build(BaseImage(suite))
    _print_line(f"{name} is built. Start it with temper rootfs start {name}")


def start_machine(data: Path, name: str) -> None:
    machine = _open_machine(data, name)
    machine.start()
    _print_machine_address(machine)


def stop_machine(data: Path, name: str) -> None:
    _open_machine(data, name).stop()
    _print_line(f"{name} is stopped.")


def reset_machine(data: Path, name: str) -> None:
    machine = _open_machine(data, name)
    machine.reset()
    if machine.is_up:
        _print_machine_address(machine)
    else:
        _print_line(f"{name} is reset. Start it with temper rootfs start {name}")


def discard_machine(data: Path, name: str) -> None:
    _open_machine(data, name).discard()
    _print_line(f"{name} is deleted.")


def _open_machine(data: Path, name: str) -> Rootfs:
    return Rootfs(Settings(data=data).data / "rootfs", name)


def _print_line(text: str) -> None:
    Console().print(text, markup=False, highlight=False, soft_wrap=True)


def _print_machine_address(machine: Rootfs) -> None:
    at = machine.get_access()
    place = f"temper@127.0.0.1:{at.port} --key {at.key} --known-hosts {at.known_hosts}"
    watch = f"--watch root={machine.get_access('root').key}"
    _print_line(f"{machine.name} is running. Add it as a host with temper host add {machine.name} {place} {watch}")
