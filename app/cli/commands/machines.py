"""Commands for disposable machines."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import Data

app = typer.Typer(help="Build and start disposable Debian machines with sshd on loopback.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Name of the machine.")]


@app.command(name="build")
def rootfs_build(
    name: Name,
    data: Data = Path("data"),
    suite: Annotated[str, typer.Option(help="Debian release.")] = "bookworm",
) -> None:
    """Build a machine. The first one of a suite takes about a minute."""
    from app.cli import rootfs

    rootfs.build_machine(data, name, suite)


@app.command(name="start")
def rootfs_start(name: Name, data: Data = Path("data")) -> None:
    """Start a machine and print how to reach it."""
    from app.cli import rootfs

    rootfs.start_machine(data, name)


@app.command(name="stop")
def rootfs_stop(name: Name, data: Data = Path("data")) -> None:
    """Stop a machine and all its processes."""
    from app.cli import rootfs

    rootfs.stop_machine(data, name)


@app.command(name="reset")
def rootfs_reset(name: Name, data: Data = Path("data")) -> None:
    """Reset a machine to its built state; restart it if it was running."""
    from app.cli import rootfs

    rootfs.reset_machine(data, name)


@app.command(name="discard")
def rootfs_discard(name: Name, data: Data = Path("data")) -> None:
    """Delete a machine and its files."""
    from app.cli import rootfs

    rootfs.discard_machine(data, name)
