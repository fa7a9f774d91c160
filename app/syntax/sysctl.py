"""Parser for sysctl.d as the two programs that load kernel settings read it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from app.syntax import host_text
from app.syntax.setting import Setting

_BLANK = " \t\n\r"
_TURN = str.maketrans("./", "/.")


@dataclass(frozen=True)
class LoadedSysctls:
    """The settings that would be loaded, by kernel name: net.ipv4.conf.eth0/1.rp_filter."""

    stated: dict[str, str]
    passed_over: frozenset[str]
    """Names with a minus and no value: patterns do not set them."""
    patterns: tuple[tuple[str, str], ...]
    writes: tuple[tuple[str, str], ...] = ()
    """Every write in order, patterns with what they would set; a pattern does not set a stated name."""

    def find_value(self, name: str) -> str | None:
        """Return the value of an existing setting; a stated one is not changed by patterns."""
        if name in self.stated:
            return self.stated[name]
        if name in self.passed_over:
            return None
        path = name.translate(_TURN)
        return next(
            (value for key, value in reversed(self.patterns) if _is_path_matched(path, key.translate(_TURN))), None
        )


def load_as_systemd(texts: Iterable[str]) -> LoadedSysctls:
    """Load the texts in order, as systemd does. A later `-name` discards earlier assignments."""
    return _build_loaded_sysctls(one for text in texts for one in parse_sysctl_assignments(text))


def load_as_procps(texts: Iterable[str]) -> LoadedSysctls:
    """Load the texts as procps does: no names that start with a slash, and no discarding."""
    made = [one for text in texts for one in parse_sysctl_assignments(text, accepts_absolute_names=False)]
    stated = {key for key, value in made if value is not None}
    loaded = _build_loaded_sysctls((key, value) for key, value in made if value is not None or key not in stated)
    return replace(loaded, writes=tuple((key, value) for key, value in made if value is not None))


def _build_loaded_sysctls(assignments: Iterable[tuple[str, str | None]]) -> LoadedSysctls:
    found: dict[str, str | None] = {}
    for key, value in assignments:
        if key not in found or found[key] != value:
            found.pop(key, None)
            found[key] = value
    plain = {key: value for key, value in found.items() if not _is_pattern(key)}
    return LoadedSysctls(
        {key: value for key, value in plain.items() if value is not None},
        frozenset(key for key, value in plain.items() if value is None),
        tuple((key, value) for key, value in found.items() if value is not None and _is_pattern(key)),
        tuple((key, value) for key, value in found.items() if value is not None),
    )


def parse_sysctl_options(text: str, path: str) -> list[Setting]:
    """Return the assignments with their lines, for edits."""
    return [
        Setting(key, value, path, number)
        for number, line in host_text.number_lines(text)
        for key, value in parse_sysctl_assignments(line)
        if value is not None and len(key.split()) == 1
    ]


def parse_sysctl_assignments(text: str, *, accepts_absolute_names: bool = True) -> list[tuple[str, str | None]]:
    """Parse `key = value`, and `-key` for names without patterns. A # or ; after a value is part of it."""
    found: list[tuple[str, str | None]] = []
    for _number, line in host_text.number_lines(text.replace("\r", "\n").replace("\0", "\n")):
        body = line.strip(_BLANK)
        if not body or body[0] in "#;":
            continue
        key, equals, value = body.partition("=")
        written = key.removeprefix("-").strip(_BLANK)
        if (equals or key.startswith("-")) and (accepts_absolute_names or not written.startswith("/")):
            found.append((_normalize_name(written), value.strip(_BLANK) if equals else None))
    return found


def _normalize_name(written: str) -> str:
    """Return the normalized name. The first separator tells which spelling it is; doubled ones count once."""
    first = next((letter for letter in written if letter in "./"), "")
    path = written if first != "." else written.translate(_TURN)
    return "/".join(part for part in path.split("/") if part).translate(_TURN)


def swap_dots_and_slashes(key: str) -> str:
    """Return a name as its path below /proc/sys: dots and slashes trade places."""
    return key.translate(_TURN)


def normalize_number(value: str) -> str:
    """Normalize a number as the kernel reads it; other text stays as it is."""
    if re.fullmatch(r"-?0[xX][0-9a-fA-F]{1,8}", value):
        return str(int(value, 16))
    if re.fullmatch(r"-?0[0-7]{1,9}", value):
        return str(int(value, 8))
    return value


def _is_pattern(key: str) -> bool:
    return any(mark in key for mark in "*?[")


def _is_path_matched(path: str, pattern: str) -> bool:
    """Return True if the path matches, as in glob(3): a star does not match a slash."""
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))
