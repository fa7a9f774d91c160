"""One logical line of sudoers: an alias, Defaults, or who may run what as whom."""

import re
from dataclasses import dataclass

from app.syntax.source import TRAIL

_FLAGS = re.ASCII | re.DOTALL
_TAGS = (
    "NOPASSWD PASSWD NOEXEC EXEC NOSETENV SETENV NOLOG_INPUT LOG_INPUT NOLOG_OUTPUT LOG_OUTPUT "
    "NOMAIL MAIL NOFOLLOW FOLLOW NOINTERCEPT INTERCEPT"
).replace(" ", "|")
_ATOM = r'(?:"(?:\\.|[^"\\])*"|\\.|%:|[^\s,:=()!"\\])'
_ENTRY = rf"(?:!+\s*)?{_ATOM}+"
_LIST = rf"{_ENTRY}(?:\s*,\s*{_ENTRY})*"
_DEFAULTS = re.compile(rf"Defaults(?:([@:>!])\s*({_LIST}))?\s+(.+)", _FLAGS)
_ALIAS = re.compile(r"(User|Runas|Host|Cmnd|Cmd)_Alias\s+(.+)", _FLAGS)
_NAMED = re.compile(r"\s*([A-Z][A-Z0-9_]*)\s*=\s*(.+)", _FLAGS)
_SPEC = re.compile(rf"({_LIST})\s+(.+)", _FLAGS)
_PRIVILEGE = re.compile(rf"\s*({_LIST})\s*=\s*(.+)", _FLAGS)
_RUNAS = re.compile(r"\s*\(([^()]*)\)", _FLAGS)
_OPTION = re.compile(r"\s*(?:ROLE|TYPE|CWD|CHROOT|TIMEOUT|NOTBEFORE|NOTAFTER|APPARMOR_PROFILE)\s*=\s*\S+", _FLAGS)
_TAG = re.compile(rf"\s*({_TAGS})\s*:", _FLAGS)
_MARK = re.compile(rf"\b({_TAGS})\s*:", _FLAGS)
_ARGUMENTS = r'(?:\\.|"[^"]*"|[^\\:"])*'
_COMMAND = re.compile(
    rf"(?:sha\d+:\S+\s+)*!*\s*(?:/{_ARGUMENTS}|\^.*\$.*|[A-Z][A-Z0-9_]*|(?:sudoedit|list)\b{_ARGUMENTS})", _FLAGS
)


@dataclass(frozen=True)
class Default:
    scope: str
    """Empty for everybody, else the sigil and the list: `:opsadmin`."""
    name: str
    negated: bool
    value: str
    path: str
    line: int


@dataclass(frozen=True)
class Alias:
    kind: str
    name: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Grant:
    """One command of a user specification, with the tags that reach it."""

    users: tuple[str, ...]
    hosts: tuple[str, ...]
    runas: str
    tags: frozenset[str]
    command: str
    path: str
    line: int


def defaults(line: str, path: str, number: int) -> list[Default] | None:
    match = _DEFAULTS.fullmatch(line)
    if match is None:
        return None
    scope = f"{match[1]}{match[2]}" if match[1] else ""
    found = []
    for option in _split(match[3], ","):
        bare = option.lstrip("! \t")
        bangs = option[: len(option) - len(bare)].count("!")
        name, _, value = bare.partition("=")
        found.append(Default(scope, name.rstrip("+- \t"), bangs % 2 == 1, value.strip(TRAIL), path, number))
    return found


def aliases(line: str) -> list[Alias] | None:
    match = _ALIAS.fullmatch(line)
    if match is None:
        return None
    named = [_NAMED.fullmatch(part) for part in _split(match[2], ":")]
    kind = match[1].replace("Cmd", "Cmnd")
    found = [Alias(kind, m[1], tuple(_split(m[2], ","))) for m in named if m]
    return found if len(found) == len(named) else None


def grants(line: str, path: str, number: int) -> list[Grant] | None:
    """None when sudo would not read the line."""
    spec = _SPEC.fullmatch(line)
    if spec is None:
        return None
    found: list[Grant] = []
    for part in _privileges(spec[2]):
        privilege = _PRIVILEGE.fullmatch(part)
        commands = None if privilege is None else _commands(privilege[2])
        if privilege is None or commands is None:
            return None
        users, hosts = tuple(_split(spec[1], ",")), tuple(_split(privilege[1], ","))
        found += [Grant(users, hosts, runas, tags, command, path, number) for runas, tags, command in commands]
    return found


def _commands(text: str) -> list[tuple[str, frozenset[str], str]] | None:
    """Runas and tags hold from where they stand to the end of the list."""
    found = []
    runas, tags = "root", frozenset[str]()
    for item in _split(text, ","):
        rest = item
        while match := _RUNAS.match(rest) or _OPTION.match(rest) or _TAG.match(rest):
            rest = rest[match.end() :]
            if match.re is _RUNAS:
                runas = match[1].strip(TRAIL)
            elif match.re is _TAG:
                tags = tags - {_opposite(match[1])} | {match[1]}
        if not _COMMAND.fullmatch(rest.strip(TRAIL)):
            return None
        found.append((runas, tags, rest.strip(TRAIL)))
    return found


def _opposite(tag: str) -> str:
    return tag[2:] if tag.startswith("NO") else f"NO{tag}"


def _privileges(text: str) -> list[str]:
    """Split at colons that are neither a tag's nor inside parentheses."""
    return _split(_MARK.sub("\\1\0", text), ":", restore=True)


def _split(text: str, mark: str, *, restore: bool = False) -> list[str]:
    parts, depth, quoted, held, escaped = [], 0, False, "", False
    for letter in text:
        if letter == mark and not (depth or quoted or escaped):
            parts.append(held)
            held = ""
            continue
        quoted ^= letter == '"' and not escaped
        depth += (letter == "(") - (letter == ")")
        escaped = letter == "\\" and not escaped
        held += letter
    parts.append(held)
    return [(p.replace("\0", ":") if restore else p).strip(TRAIL) for p in parts]
