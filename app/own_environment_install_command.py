"""How this Temper was installed, and the command that adds a package to the same environment."""

import shlex
import sys
from pathlib import Path

_UV, _PIPX = "uv-receipt.toml", "pipx_metadata.json"
"""The files by which uv and pipx mark an environment that they made for one program."""


def is_checkout(package: Path = Path(__file__).parent) -> bool:
    """Return True if the package lies in its repository, where make sets things up."""
    return (package.parent / "Makefile").is_file() and (package.parent / "pyproject.toml").is_file()


def format_install_command(*packages: str, with_dependencies: bool = True, python: str = sys.executable) -> str:
    """Return the shell command that installs packages into the environment of this Temper."""
    words = [*([] if with_dependencies else ["--no-deps"]), *packages]
    environment = Path(python).parent.parent
    if (environment / _PIPX).is_file():
        options = [] if with_dependencies else ["--pip-args=--no-deps"]
        return shlex.join(["pipx", "inject", *options, "temper-stig", *packages])
    if (environment / _UV).is_file():
        return shlex.join(["uv", "pip", "install", "--python", python, *words])
    return shlex.join([python, "-m", "pip", "install", *words])
