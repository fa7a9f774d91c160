"""Parser for one logical line of sudoers, with sudo's own lexer rules: aliases, Defaults or grants."""

import re
from dataclasses import dataclass

from app.syntax.sudoers_text import TAGS, BrokenSudoers, SudoersScan

_ALIAS = re.compile(r"(User|Runas|Host|Cmnd|Cmd)_Alias(?![A-Za-z0-9_])")
_DEFAULTS = re.compile(r"Defaults(?:([@:>!])|[ \t])")
_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
_OPTION = re.compile(r"(ROLE|TYPE|CWD|CHROOT|TIMEOUT|NOTBEFORE|NOTAFTER|APPARMOR_PROFILE)[ \t]*=[ \t]*(\S+)")
_TAG = re.compile(rf"({'|'.join(TAGS)})[ \t]*:")
_SETENV = frozenset({"SETENV", "NOSETENV"})
_VARIABLE = re.compile(r"[a-z_]+")
_DIGEST = re.compile(r"sha(?:224|256|384|512)[ \t]*:[ \t]*[A-Za-z0-9+/=]+[ \t]*")


@dataclass(frozen=True)
class Default:
    scope: str
    """Empty for all users, else a sigil and the list: `:opsadmin`."""
    name: str
    negated: bool
    value: str
    path: str
    line: int
    change: str = "="
    """How a list changes: = sets, + adds, - removes."""


@dataclass(frozen=True)
class Alias:
    kind: str
    name: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Grant:
    """One command of a user specification, with its tags."""

    users: tuple[str, ...]
    hosts: tuple[str, ...]
    runas: str
    """`root`, `ALL : ALL` or `:group`; empty for the account itself."""
    tags: frozenset[str]
    command: str
    path: str
    line: int
    options: tuple[str, ...] = ()
    """Such as `CWD=/tmp`, sorted by name."""


def defaults(line: str, path: str, number: int) -> list[Default] | None:
    """None when sudo would not read the line."""
    scan = SudoersScan(line)
    opening = scan.match(_DEFAULTS)
    if opening is None:
        return None
    try:
        scope, sigil = "", opening[1]
        if sigil:
            listed = scan.commands_of_defaults() if sigil == "!" else scan.members(hosts=sigil == "@")
            scope = sigil + ", ".join(listed)
        return _settings(scan, scope, path, number)
    except BrokenSudoers:
        return None


def _settings(scan: SudoersScan, scope: str, path: str, number: int) -> list[Default]:
    found = []
    for _ in scan.to_the_end(","):
        negated = scan.bangs()
        name = scan.expect(_VARIABLE)[0]
        change = scan.any_of("+-") or "="
        value = ""
        if scan.any_of("="):
            value = scan.value()
        elif change != "=":
            raise BrokenSudoers
        found.append(Default(scope, name, negated, value, path, number, change))
    return found


def aliases(line: str) -> list[Alias] | None:
    scan = SudoersScan(line)
    match = scan.match(_ALIAS)
    if match is None:
        return None
    kind = match[1].replace("Cmd", "Cmnd")
    found = []
    try:
        for _ in scan.to_the_end(":"):
            name = scan.expect(_NAME)[0]
            if not scan.any_of("="):
                return None
            members = [_command(scan) for _ in scan.listed()] if kind == "Cmnd" else scan.members(hosts=kind == "Host")
            found.append(Alias(kind, name, tuple(members)))
    except BrokenSudoers:
        return None
    return found


def _command(scan: SudoersScan) -> str:
    digest = "".join(iter(lambda: (scan.match(_DIGEST) or [""])[0], ""))
    return digest + scan.command()


def grants(line: str, path: str, number: int) -> list[Grant] | None:
    """None when sudo would not read the line."""
    scan = SudoersScan(line)
    found: list[Grant] = []
    try:
        users = tuple(scan.members())
        for _ in scan.to_the_end(":"):
            hosts = tuple(scan.members(hosts=True))
            if not scan.any_of("="):
                return None
            found += [
                Grant(users, hosts, runas, tags, command, path, number, options)
                for runas, tags, command, options in _commands(scan)
            ]
    except BrokenSudoers:
        return None
    return found


def _commands(scan: SudoersScan) -> list[tuple[str, frozenset[str], str, tuple[str, ...]]]:
    """Read the commands of a list. Runas, options and tags apply from their place to its end."""
    found = []
    runas, tags, options = "root", frozenset[str](), dict[str, str]()
    for _ in scan.listed():
        runas = scan.runas() or runas
        while option := scan.match(_OPTION):
            options[option[1]] = option[2]
        own = set()
        while tag := scan.match(_TAG):
            own.add(tag[1])
            tags = tags - {opposite(tag[1])} | {tag[1]}
        command = _command(scan)
        if command == "ALL" and not own & _SETENV:
            tags -= _SETENV  # ALL implies SETENV, for itself alone
        given = tuple(f"{name}={value}" for name, value in sorted(options.items()))
        found.append((runas.strip(), tags, command, given))
    return found


def opposite(tag: str) -> str:
    return tag[2:] if tag.startswith("NO") else f"NO{tag}"
