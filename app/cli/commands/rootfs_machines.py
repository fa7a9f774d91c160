"""Commands for disposable Debian machines in a root file system, which boot no kernel: `temper rootfs`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.options import Data

if TYPE_CHECKING:
    from app.targets.rootfs.rootfs_machine import Rootfs

app = typer.Typer(help="Manage disposable Debian machines (SSH on loopback).", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Name of the machine.")]


@app.command(name="build")
def rootfs_build(
    name: Name, data: Data = Path("data"), suite: Annotated[str, typer.Option(help="Debian release.")] = "bookworm"
) -> None:
    """Build a machine. The first one of a suite takes about a minute."""
    from app.targets.rootfs.base_image_definition import BaseImage

    _get_rootfs_machine_handle(data, name).build(BaseImage(suite))
    _print_line(f"{name} is built. Start it with temper rootfs start {name}")


@app.command(name="start")
def rootfs_start(name: Name, data: Data = Path("data")) -> None:
    """Start a machine and print how to reach it."""
    machine = _get_rootfs_machine_handle(data, name)
    machine.start()
    _print_machine_address(machine)


@app.command(name="stop")
def rootfs_stop(name: Name, data: Data = Path("data")) -> None:
    """Stop a machine and all its processes."""
    _get_rootfs_machine_handle(data, name).stop()
    _print_line(f"{name} is stopped.")


@app.command(name="reset")
def rootfs_reset(name: Name, data: Data = Path("data")) -> None:
    """Reset a machine to its built state; restart it if it was running."""
    machine = _get_rootfs_machine_handle(data, name)
    machine.reset()
    if machine.is_up:
        _print_machine_address(machine)
    else:
        _print_line(f"{name} is reset. Start it with temper rootfs start {name}")


@app.command(name="discard")
def rootfs_discard(name: Name, data: Data = Path("data")) -> None:
    """Delete a machine and its files."""
    _get_rootfs_machine_handle(data, name).discard()
    _print_line(f"{name} is deleted.")


def _get_rootfs_machine_handle(data: Path, name: str) -> "Rootfs":
    from app.targets.rootfs.rootfs_machine import Rootfs

    return Rootfs(data / "rootfs", name)


def _print_line(text: str) -> None:
    from app.cli.output import print_line

    print_line(text)


def _print_machine_address(machine: "Rootfs") -> None:
    at = machine.get_access()
    place = f"temper@127.0.0.1:{at.port} --key {at.key} --known-hosts {at.known_hosts}"
    watch = f"--watch root={machine.get_access('root').key}"
    _print_line(f"{machine.name} is running. Add it as a host with temper host add {machine.name} {place} {watch}")
