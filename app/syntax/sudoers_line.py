"""Parser for one logical line of sudoers, with sudo's own lexer rules: aliases, Defaults or grants."""

import re
from dataclasses import dataclass

from app.syntax.sudoers_scanner import TAGS, SudoersScanner, SudoersSyntaxError

_ALIAS = re.compile(r"(User|Runas|Host|Cmnd|Cmd)_Alias(?![A-Za-z0-9_])")
_DEFAULTS = re.compile(r"Defaults(?:([@:>!])|[ \t])")
_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
_OPTION = re.compile(r"(ROLE|TYPE|CWD|CHROOT|TIMEOUT|NOTBEFORE|NOTAFTER|APPARMOR_PROFILE)[ \t]*=[ \t]*(\S+)")
_TAG = re.compile(rf"({'|'.join(TAGS)})[ \t]*:")
_SETENV = frozenset({"SETENV", "NOSETENV"})
_VARIABLE = re.compile(r"[a-z_]+")
_DIGEST = re.compile(r"sha(?:224|256|384|512)[ \t]*:[ \t]*[A-Za-z0-9+/=]+[ \t]*")


@dataclass(frozen=True)
class SudoDefault:
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


def parse_defaults(line: str, path: str, number: int) -> list[SudoDefault] | None:
    """None when sudo would not read the line."""
    scan = SudoersScanner(line)
    opening = scan.match(_DEFAULTS)
    if opening is None:
        return None
    try:
        scope, sigil = "", opening[1]
        if sigil:
            listed = scan.read_default_commands() if sigil == "!" else scan.read_members(are_hosts=sigil == "@")
            scope = sigil + ", ".join(listed)
        return _parse_default_settings(scan, scope, path, number)
    except SudoersSyntaxError:
        return None


def _parse_default_settings(scan: SudoersScanner, scope: str, path: str, number: int) -> list[SudoDefault]:
    found = []
    for _ in scan.yield_at_each_part(","):
        negated = scan.read_negation()
        name = scan.expect(_VARIABLE)[0]
        change = scan.take_mark("+-") or "="
        value = ""
        if scan.take_mark("="):
            value = scan.read_value()
        elif change != "=":
            raise SudoersSyntaxError
        found.append(SudoDefault(scope, name, negated, value, path, number, change))
    return found


def parse_aliases(line: str) -> list[Alias] | None:
    scan = SudoersScanner(line)
    match = scan.match(_ALIAS)
    if match is None:
        return None
    kind = match[1].replace("Cmd", "Cmnd")
    found = []
    try:
        for _ in scan.yield_at_each_part(":"):
            name = scan.expect(_NAME)[0]
            if not scan.take_mark("="):
                return None
            members = (
                [_read_command_prefixed_with_its_digests(scan) for _ in scan.step_through_comma_separated_list()]
                if kind == "Cmnd"
                else scan.read_members(are_hosts=kind == "Host")
            )
            found.append(Alias(kind, name, tuple(members)))
    except SudoersSyntaxError:
        return None
    return found


def _read_command_prefixed_with_its_digests(scan: SudoersScanner) -> str:
    digest = "".join(iter(lambda: (scan.match(_DIGEST) or [""])[0], ""))
    return digest + scan.read_command()


def parse_grants(line: str, path: str, number: int) -> list[Grant] | None:
    """None when sudo would not read the line."""
    scan = SudoersScanner(line)
    found: list[Grant] = []
    try:
        users = tuple(scan.read_members())
        for _ in scan.yield_at_each_part(":"):
            hosts = tuple(scan.read_members(are_hosts=True))
            if not scan.take_mark("="):
                return None
            found += [
                Grant(users, hosts, runas, tags, command, path, number, options)
                for runas, tags, command, options in _read_commands(scan)
            ]
    except SudoersSyntaxError:
        return None
    return found


def _read_commands(scan: SudoersScanner) -> list[tuple[str, frozenset[str], str, tuple[str, ...]]]:
    """Read the commands of a list. Runas, options and tags apply from their place to its end."""
    found = []
    runas, tags, options = "root", frozenset[str](), dict[str, str]()
    for _ in scan.step_through_comma_separated_list():
        runas = scan.read_runas_if_present() or runas
        while option := scan.match(_OPTION):
            options[option[1]] = option[2]
        own = set()
        while tag := scan.match(_TAG):
            own.add(tag[1])
            tags = tags - {negate_tag(tag[1])} | {tag[1]}
        command = _read_command_prefixed_with_its_digests(scan)
        if command == "ALL" and not own & _SETENV:
            tags -= _SETENV  # ALL implies SETENV, for itself alone
        given = tuple(f"{name}={value}" for name, value in sorted(options.items()))
        found.append((runas.strip(), tags, command, given))
    return found


def negate_tag(tag: str) -> str:
    return tag[2:] if tag.startswith("NO") else f"NO{tag}"
