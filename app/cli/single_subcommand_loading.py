"""The root command, which loads only the subcommand that is called."""

import sys
from collections.abc import Iterator
from copy import copy
from typing import Any, Self

import typer
from typer.main import get_command_name
from typer.models import CommandInfo


class Terminal(typer.Typer):
    """A Typer app made of unnamed parts, each with commands and groups."""

    def __call__(self, *args: Any, **more: Any) -> Any:
        return super(Terminal, self.copy_with_only_command(*sys.argv[1:2])).__call__(*args, **more)

    def copy_with_only_command(self, command_name: str = "") -> Self:
        """Return a copy with only the named command or group, or self. Parsing all commands takes 25 ms."""
        commands = [
            one
            for part in self._iterate_apps_of_registered_groups()
            for one in part.registered_commands
            if _read_command_name(one) == command_name
        ]
        groups = [
            one
            for part in self._iterate_apps_of_registered_groups()
            for one in part.registered_groups
            if one.name == command_name
        ]
        if not (commands or groups):
            return self
        only = copy(self)
        only.registered_commands, only.registered_groups = commands, groups
        return only

    def _iterate_apps_of_registered_groups(self) -> Iterator[typer.Typer]:
        return (group.typer_instance for group in self.registered_groups if group.typer_instance)


def _read_command_name(command: CommandInfo) -> str:
    return command.name or (get_command_name(command.callback.__name__) if command.callback else "")
