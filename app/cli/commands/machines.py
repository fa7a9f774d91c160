"""Disposable machines on this one."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import Data

app = typer.Typer(help="Disposable Debian machines with sshd on loopback.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="The machine.")]


@app.command()
def build(
    name: Name,
    data: Data = Path("data"),
    suite: Annotated[str, typer.Option(help="The release of Debian.")] = "bookworm",
) -> None:
    """Make a machine. The first one of a suite takes a minute or so."""
    from app.cli import rootfs

    rootfs.build(data, name, suite)


@app.command()
def start(name: Name, data: Data = Path("data")) -> None:
    """Bring it up and say how it is reached."""
    from app.cli import rootfs

    rootfs.start(data, name)


@app.command()
def stop(name: Name, data: Data = Path("data")) -> None:
    """End it, with every process of its own."""
    from app.cli import rootfs

    rootfs.stop(data, name)


@app.command()
def reset(name: Name, data: Data = Path("data")) -> None:
    """As it was built; up again if it was up."""
    from app.cli import rootfs

    rootfs.reset(data, name)


@app.command()
def discard(name: Name, data: Data = Path("data")) -> None:
    """Take it away, with all it holds."""
    from app.cli import rootfs

    rootfs.discard(data, name)
