"""Commands for disposable machines.

`temper machine` has virtual ones, which boot with a kernel and systemd of their own; `temper rootfs` has Debian ones in
a root file system, which boot no kernel.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.options import AsJson, Data

if TYPE_CHECKING:
    from app.targets.rootfs.rootfs_machine import Rootfs
    from app.targets.vm.virtual_machine import VirtualMachine

machine_app = typer.Typer(help="Manage disposable virtual machines that boot (QEMU).", no_args_is_help=True)
rootfs_app = typer.Typer(help="Manage disposable Debian machines (SSH on loopback).", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Name of the machine.")]
AtOnce = Annotated[bool, typer.Option("--at-once", help="Pull the plug instead of shutting it down.")]


@machine_app.command(name="build")
def machine_build(
    name: Name,
    data: Data = Path("data"),
    kind: Annotated[str, typer.Option(help="What to build: debian12, or el9, a stand-in for RHEL 9.")] = "debian12",
    memory: Annotated[int, typer.Option(help="Memory in megabytes, 512 to 8192.")] = 1024,
) -> None:
    """Build a machine. The first one of a kind takes a minute or two."""
    _create_virtual_machine_handle(data, name).build(kind, memory)
    _print_line(f"{name} is built. Start it with temper machine start {name}")


@machine_app.command(name="start")
def machine_start(name: Name, data: Data = Path("data")) -> None:
    """Start a machine, add it as a host, and print how to reach it. It runs until you stop it."""
    machine = _create_virtual_machine_handle(data, name)
    machine.start()
    _register_as_host(machine, data)


@machine_app.command(name="stop")
def machine_stop(name: Name, data: Data = Path("data"), at_once: AtOnce = False) -> None:
    """Shut a machine down and end all its processes."""
    _create_virtual_machine_handle(data, name).stop(at_once=at_once)
    _print_line(f"{name} is stopped.")


@machine_app.command(name="reboot")
def machine_reboot(name: Name, data: Data = Path("data"), at_once: AtOnce = False) -> None:
    """Shut a machine down and boot it again. Its disks stay as they are."""
    machine = _create_virtual_machine_handle(data, name)
    machine.reboot(at_once=at_once)
    _register_as_host(machine, data)


@machine_app.command(name="snapshot")
def machine_snapshot(
    name: Name, label: Annotated[str, typer.Argument(help="Name of the snapshot.")], data: Data = Path("data")
) -> None:
    """Keep a running machine's disks and memory as a snapshot. Return to it with temper machine reset --to."""
    _create_virtual_machine_handle(data, name).take_snapshot(label)
    _print_line(f"Kept as {label}. Return to it with temper machine reset {name} --to {label}")


@machine_app.command(name="reset")
def machine_reset(
    name: Name,
    data: Data = Path("data"),
    to: Annotated[str, typer.Option(help="A snapshot. Default: the machine after its first boot.")] = "pristine",
) -> None:
    """Return a machine to a snapshot, within seconds. A running machine keeps running."""
    machine = _create_virtual_machine_handle(data, name)
    machine.reset(to)
    _print_line(f"{name} is reset to {to}.")


@machine_app.command(name="discard")
def machine_discard(name: Name, data: Data = Path("data")) -> None:
    """Delete a machine, its disks and its snapshots."""
    _create_virtual_machine_handle(data, name).discard()
    _print_line(f"{name} is deleted.")


@machine_app.command(name="list")
def machine_list(data: Data = Path("data"), as_json: AsJson = False) -> None:
    """List the machines with state, virtualisation and snapshots."""
    from app.cli.virtual_machine_list import print_machines

    print_machines(data / "machines", as_json=as_json)


@machine_app.command(name="console")
def machine_console(
    name: Name,
    data: Data = Path("data"),
    lines: Annotated[int, typer.Option(min=1, max=10000, help="Number of lines to print.")] = 40,
) -> None:
    """Print the last lines of a machine's serial console."""
    text = _create_virtual_machine_handle(data, name).read_console(lines * 200)
    _print_line("\n".join(text.splitlines()[-lines:]))


@rootfs_app.command(name="build")
def rootfs_build(
    name: Name, data: Data = Path("data"), suite: Annotated[str, typer.Option(help="Debian release.")] = "bookworm"
) -> None:
    """Build a machine. The first one of a suite takes about a minute."""
    from app.targets.rootfs.base_image_definition import BaseImage

    _create_rootfs_handle_without_existence_check(data, name).build(BaseImage(suite))
    _print_line(f"{name} is built. Start it with temper rootfs start {name}")


@rootfs_app.command(name="start")
def rootfs_start(name: Name, data: Data = Path("data")) -> None:
    """Start a machine and print how to reach it."""
    machine = _create_rootfs_handle_without_existence_check(data, name)
    machine.start()
    _print_machine_address(machine)


@rootfs_app.command(name="stop")
def rootfs_stop(name: Name, data: Data = Path("data")) -> None:
    """Stop a machine and all its processes."""
    _create_rootfs_handle_without_existence_check(data, name).stop()
    _print_line(f"{name} is stopped.")


@rootfs_app.command(name="reset")
def rootfs_reset(name: Name, data: Data = Path("data")) -> None:
    """Reset a machine to its built state; restart it if it was running."""
    machine = _create_rootfs_handle_without_existence_check(data, name)
    machine.reset()
    if machine.is_up:
        _print_machine_address(machine)
    else:
        _print_line(f"{name} is reset. Start it with temper rootfs start {name}")


@rootfs_app.command(name="discard")
def rootfs_discard(name: Name, data: Data = Path("data")) -> None:
    """Delete a machine and its files."""
    _create_rootfs_handle_without_existence_check(data, name).discard()
    _print_line(f"{name} is deleted.")


def _create_virtual_machine_handle(data: Path, name: str) -> "VirtualMachine":
    from app.cli.output import print_line
    from app.targets.vm.virtual_machine import VirtualMachine

    return VirtualMachine(data / "machines", name, lambda text: print_line(text, to_stderr=True))


def _create_rootfs_handle_without_existence_check(data: Path, name: str) -> "Rootfs":
    from app.targets.rootfs.rootfs_machine import Rootfs

    return Rootfs(data / "rootfs", name)


def _print_line(text: str) -> None:
    from app.cli.output import print_line

    print_line(text)


def _register_as_host(machine: "VirtualMachine", data: Path) -> None:
    from app.cli.debian_demo import add_datastream_to_local_content_if_missing, register_machine
    from app.config import Settings

    image = machine.get_current_image_of_kind()
    register_machine(Settings(data=data), machine, machine.get_access(), image.title)
    add_datastream_to_local_content_if_missing(machine.base_image_folder / image.content)
    _print_line(f"{machine.name} is running, and is the host {machine.name}: temper host check {machine.name}")


def _print_machine_address(machine: "Rootfs") -> None:
    at = machine.get_access()
    place = f"temper@127.0.0.1:{at.port} --key {at.key} --known-hosts {at.known_hosts}"
    watch = f"--watch root={machine.get_access('root').key}"
    _print_line(f"{machine.name} is running. Add it as a host with temper host add {machine.name} {place} {watch}")
