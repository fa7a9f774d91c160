"""The idle timeout of shells: TMOUT after the login scripts ran in order."""

import re
from collections.abc import Iterable, Mapping

from app.syntax import host_text
from app.syntax.files import Files
from app.syntax.shell_assignments import Assignment, parse_declarations
from app.targets.effects.daemon import Daemon
from app.targets.effects.strength import Strength, compare_higher_as_stricter, compare_sets

LOGIN, FOLDER = "/etc/profile", "/etc/profile.d/*.sh"
RUNS = ("/etc/bashrc", "/etc/bash.bashrc")
FAILING, _AND = "lines that fail at a login", " and "
FIXED = " for good"
_NEVER = "never"
_VALUE = re.compile(r"([0-9]{1,6}|never)( for good)?")


class ShellProfile(Daemon):
    """Not asked: a shell would execute the host's scripts as our user."""

    name = "profile"
    areas = (LOGIN, "/etc/profile.d/", *RUNS)

    def read_settings(self, files: Files) -> Mapping[str, str]:
        login = _read_login_lines(files)
        return {
            "TMOUT of a login": evaluate_timeout(login),
            FAILING: _AND.join(find_failing_lines(login)),
            **{f"TMOUT in {path}": evaluate_timeout(_read_tmout_lines(files, path)) for path in RUNS},
        }

    def compare_values(self, key: str, was: str, now: str) -> Strength:
        if key == FAILING:
            return compare_sets(was.split(_AND), now.split(_AND))
        old, new = _VALUE.fullmatch(was), _VALUE.fullmatch(now)
        if old is None or new is None or bool(old[2]) > bool(new[2]):
            return Strength.INCOMPARABLE
        found = compare_higher_as_stricter(-_parse_seconds(old[1]), -_parse_seconds(new[1]))
        return Strength.STRONGER if found is Strength.EQUAL and new[2] else found


def evaluate_timeout(made: Iterable[Assignment]) -> str:
    """Return the final TMOUT; conditional assignments are appended with `or` and do not compare."""
    value, fixed, perhaps = _NEVER, False, list[str]()
    for one in made:
        if fixed:
            continue
        said = _NEVER if one.unset else one.value
        if not one.surely:
            perhaps.append(said + (FIXED if one.readonly else ""))
            continue
        if one.stated:
            value, perhaps = said or _NEVER, []
        fixed = one.readonly
    return " or ".join([value + (FIXED if fixed else ""), *sorted(set(perhaps) - {value})])


def find_failing_lines(made: Iterable[Assignment]) -> list[str]:
    """Return assignments after a readonly one; each prints an error at every login."""
    found, fixed = list[str](), False
    for one in made:
        if fixed and one.stated:
            found.append(f"{one.path}: TMOUT={one.value}")
        fixed = fixed or (one.readonly and one.surely)
    return found


def _read_login_lines(files: Files) -> list[Assignment]:
    """Return the assignments in the order in which a login shell meets them.

    Debian's /etc/profile sources /etc/bash.bashrc ahead of profile.d, RHEL's sources /etc/bashrc last.
    """
    text = host_text.read_text(files, LOGIN) or ""
    sourced: list[tuple[int, list[Assignment]]] = []
    middle = text.find("/profile.d/")
    scripts = [one for path in host_text.glob_files(files, FOLDER) for one in _read_tmout_lines(files, path)]
    sourced.append((text.count("\n", 0, middle) + 1 if middle >= 0 else 0, scripts))
    for path in RUNS:
        for number, line in host_text.number_lines(text):
            if re.search(rf"^[^#]*(?:\.|\bsource)[ \t]+[\"']?{path}\b", line):
                sourced.append((number, _read_tmout_lines(files, path)))
    own = [(one.line, [one]) for one in _read_tmout_lines(files, LOGIN)]
    return [one for _, made in sorted([*sourced, *own], key=lambda place: place[0]) for one in made]


def _read_tmout_lines(files: Files, path: str) -> list[Assignment]:
    return [one for one in parse_declarations(host_text.read_text(files, path) or "", path) if one.name == "TMOUT"]


def _parse_seconds(value: str) -> float:
    """Return seconds; 0 and never are infinite, as in bash."""
    return float("inf") if value == _NEVER or int(value) == 0 else int(value)
