"""The rights that sudoers gives an account: aliases expanded, the last matching rule decides."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from app.syntax.sudoers import Sudoers
from app.syntax.sudoers_line import Default, Grant

ON, OFF = "on", "off"
_DEPTH = 16
_LISTS = ("env_keep", "env_check", "env_delete")
BUILT_IN = "(built-in)"


@dataclass(frozen=True)
class Principal:
    name: str
    uid: int | None = None
    groups: frozenset[str] = frozenset()
    """Each by name, and by number as in sudoers: #10."""


@dataclass(frozen=True)
class Right:
    """One sudoers rule for an account, with its tags and the Defaults resolved."""

    hosts: str
    runas: str
    command: str
    allowed: bool
    gives: frozenset[str]
    """NOPASSWD, EXEC, SETENV, FOLLOW: privileges beyond the command."""
    takes: frozenset[str]
    """LOG_INPUT, LOG_OUTPUT, MAIL, INTERCEPT: restrictions."""
    options: str = ""
    path: str = ""
    line: int = 0

    @property
    def asks(self) -> bool:
        return "NOPASSWD" not in self.gives


def is_meant(sudoers: Sudoers, listed: Collection[str], who: Principal) -> bool:
    return sudoers.names(tuple(listed), who.name, who.groups, who.uid) is True


def in_force(sudoers: Sudoers, who: Principal, also: str = "") -> Mapping[str, str]:
    """Return the Defaults that apply to the account, by name; others have their built-in value.

    `also` is one more scope that counts as a match: a host, a runas user or a command. Scopes of commands come last.
    """
    found: dict[str, str] = {}
    for last in (False, True):
        for default in sudoers.defaults:
            if default.scope.startswith("!") == last and _reaches(sudoers, default, who, also):
                found[default.name] = _changed(default, found.get(default.name, BUILT_IN))
    return found


def _reaches(sudoers: Sudoers, default: Default, who: Principal, also: str) -> bool:
    if not default.scope or default.scope == also:
        return True
    listed = default.scope[1:].split(", ")
    return listed == ["ALL"] or (default.scope.startswith(":") and is_meant(sudoers, listed, who))


def _changed(default: Default, was: str) -> str:
    if default.name not in _LISTS:
        return default.value or (OFF if default.negated else ON)
    given = set(default.value.split())
    known = set(was.split())
    if default.change == "+":
        return " ".join(sorted(known - {f"-{name}" for name in given} | given))
    if default.change == "-":
        taken = {f"-{name}" for name in given} if BUILT_IN in known else set()
        return " ".join(sorted(known - given | taken))
    return " ".join(sorted(given))


def rights(sudoers: Sudoers, who: Principal) -> list[Right]:
    """List the account's rights in file order. The last match decides."""
    defaults = in_force(sudoers, who)
    return [
        _right(sudoers, grant, command, defaults)
        for grant in sudoers.grants
        if is_meant(sudoers, grant.users, who)
        for command in _flat(sudoers, "Cmnd", (grant.command,))
    ]


def _right(sudoers: Sudoers, grant: Grant, command: str, defaults: Mapping[str, str]) -> Right:
    def said(tag: str, option: str, *, built_in: bool = False) -> bool:
        if {tag, f"NO{tag}"} & grant.tags:
            return tag in grant.tags
        value = defaults.get(option)
        return built_in if value is None else value == ON

    asks = "PASSWD" in grant.tags or ("NOPASSWD" not in grant.tags and defaults.get("authenticate", ON) == ON)
    runs = "EXEC" in grant.tags or ("NOEXEC" not in grant.tags and defaults.get("noexec", OFF) == OFF)
    gives = {
        "NOPASSWD": not asks,
        "EXEC": runs,
        # a plain ALL includes SETENV
        "SETENV": said("SETENV", "setenv", built_in=False) or (grant.command == "ALL" and "NOSETENV" not in grant.tags),
        "FOLLOW": said("FOLLOW", "sudoedit_follow"),
    }
    takes = {
        "LOG_INPUT": said("LOG_INPUT", "log_input"),
        "LOG_OUTPUT": said("LOG_OUTPUT", "log_output"),
        "MAIL": "MAIL" in grant.tags,
        "INTERCEPT": said("INTERCEPT", "intercept"),
    }
    users, colon, groups = (
        grant.runas.partition(" : ") if not grant.runas.startswith(": ") else ("", " : ", grant.runas[2:])
    )
    run = _listed(sudoers, "Runas", users) + (colon and f" : {_listed(sudoers, 'Runas', groups)}")
    return Right(
        ", ".join(_flat(sudoers, "Host", grant.hosts)),
        run.strip(),
        command.removeprefix("!"),
        not command.startswith("!"),
        frozenset(word for word, held in gives.items() if held),
        frozenset(word for word, held in takes.items() if held),
        " ".join(grant.options),
        grant.path,
        grant.line,
    )


def _listed(sudoers: Sudoers, kind: str, text: str) -> str:
    return ", ".join(_flat(sudoers, kind, [entry for entry in text.split(", ") if entry]))


def _flat(sudoers: Sudoers, kind: str, listed: Collection[str], depth: int = 0) -> Iterator[str]:
    """Yield the entries with aliases expanded. A bang before an alias negates each member."""
    for entry in listed:
        members = sudoers.members(kind, entry.removeprefix("!")) if depth < _DEPTH else None
        if members is None:
            yield entry
            continue
        for member in _flat(sudoers, kind, members, depth + 1):
            yield member if not entry.startswith("!") else member[1:] if member.startswith("!") else f"!{member}"
