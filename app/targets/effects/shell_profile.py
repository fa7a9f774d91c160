"""What a login shell starts with: its idle timeout (TMOUT), its umask, and the folders of its PATH.

`bash -il`, `su -` and a login over SSH read /etc/profile and what it sources. A plain sh (`sh -l`) leaves out the files
of bash.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import and_, or_

from app.syntax import host_text
from app.syntax.host_files_protocol import Files
from app.syntax.shell_assignments import Assignment, parse_assignments_and_readonly_names
from app.targets.effects.daemon_base import Daemon
from app.targets.effects.login_defs import LoginDefs
from app.targets.effects.strictness_comparison import Strength, compare_allowed_sets, compare_higher_as_stricter

LOGIN, FOLDER, LOCAL = "/etc/profile", "/etc/profile.d/*.sh", "/etc/profile.d/sh.local"
RUNS = ("/etc/bashrc", "/etc/bash.bashrc")
FAILING, UNSAFE, _AND, _OR = "lines that fail at", "unsafe in PATH", " and ", " or "
FIXED = " for good"
_SHELLS = {"a login": RUNS, "a login by sh": ()}
"""Logins, and which of bash's own files each reads where /etc/profile sources them."""
_NEVER = "never"
_VALUE = re.compile(r"([0-9]{1,6}|never)( for good)?")
_MASK = re.compile(r"[0-7]{1,4}")
_SAFE_FOLDER = re.compile(r"/(?:usr|bin|sbin|opt|snap|var/lib/snapd)(?:/(?!\.\.?(?:/|$))[\w.+@-]+)*/?", re.ASCII)
"""Folders of PATH that only root writes to."""
_PATH_REFERENCE = re.compile(r"\$(?:PATH|1)\b|\$\{(?:PATH|1)(?::[-+=?][^{}]*(?:\{[^{}]*\})?[^{}]*)?\}")
_OLD_PATH = "$PATH"


class ShellProfile(Daemon):
    """Not asked: a shell would execute the host's scripts as our user."""

    name = "profile"
    areas = (LOGIN, "/etc/profile.d/", *RUNS)

    def read_settings(self, files: Files) -> Mapping[str, str]:
        usual = LoginDefs().read_settings(files)["UMASK"]
        logins = {label: _read_login_assignments(files, runs) for label, runs in _SHELLS.items()}
        own = {path: _read_declarations(files, path) for path in RUNS}
        found = {f"{FAILING} {label}": _AND.join(find_readonly_violations(made)) for label, made in logins.items()}
        for label, made in logins.items():
            found |= _evaluate_timeout_and_umask(f"of {label}", made, usual)
        for path, made in own.items():
            found |= _evaluate_timeout_and_umask(f"in {path}", made, usual)
        everything = (one for made in (*logins.values(), *own.values()) for one in made)
        return {**found, UNSAFE: _AND.join(_find_unsafe_path_parts(everything))}

    def compare_values(self, key: str, was: str, now: str) -> Strength:
        if key == UNSAFE or key.startswith(FAILING):
            return compare_allowed_sets(*(list(filter(None, value.split(_AND))) for value in (was, now)))
        if key.startswith("umask "):
            return _compare_masks(was, now)
        old, new = _VALUE.fullmatch(was), _VALUE.fullmatch(now)
        if old is None or new is None or bool(old[2]) > bool(new[2]):
            return Strength.INCOMPARABLE
        found = compare_higher_as_stricter(
            -_parse_seconds_with_zero_as_infinite(old[1]), -_parse_seconds_with_zero_as_infinite(new[1])
        )
        return Strength.STRONGER if found is Strength.EQUAL and new[2] else found


def _evaluate_timeout_and_umask(
    shell_label: str, assignments: Sequence[Assignment], default_umask: str
) -> dict[str, str]:
    timeout = format_possible_final_timeouts(one for one in assignments if one.name == "TMOUT")
    return {
        f"TMOUT {shell_label}": timeout,
        f"umask {shell_label}": format_possible_final_umasks(assignments, default_umask),
    }


def format_possible_final_timeouts(tmout_assignments: Iterable[Assignment]) -> str:
    """Return the final TMOUT; conditional assignments are appended with `or` and do not compare."""
    value, fixed, perhaps = _NEVER, False, list[str]()
    for one in tmout_assignments:
        if fixed:
            continue
        said = _NEVER if one.unset else one.value
        if not one.surely:
            perhaps.append(said + (FIXED if one.readonly else ""))
            continue
        if one.stated:
            value, perhaps = said or _NEVER, []
        fixed = one.readonly
    return _OR.join([value + (FIXED if fixed else ""), *sorted(set(perhaps) - {value})])


def format_possible_final_umasks(assignments: Iterable[Assignment], default_umask: str) -> str:
    """Return the final umask, and those of conditional commands after it. A login begins with `default_umask`."""
    value, perhaps = default_umask, list[str]()
    for one in assignments:
        if one.name == "umask":
            said = f"{int(one.value, 8):03o}" if _MASK.fullmatch(one.value) else one.value
            value, perhaps = (said, []) if one.surely else (value, [*perhaps, said])
    return _OR.join([value, *sorted(set(perhaps) - {value})])


def _compare_masks(was: str, now: str) -> Strength:
    """Compare what is closed in every case, and what is closed in some case: neither may get less."""
    if was == now:
        return Strength.EQUAL
    old, new = was.split(_OR), now.split(_OR)
    if not all(map(_MASK.fullmatch, (*old, *new))):
        return Strength.INCOMPARABLE
    (before, some_before), (after, some_after) = (
        (reduce(and_, masks), reduce(or_, masks)) for masks in ([int(one, 8) for one in value] for value in (old, new))
    )
    return Strength.WEAKER if before & ~after or some_before & ~some_after else Strength.STRONGER


def find_readonly_violations(assignments: Iterable[Assignment]) -> list[str]:
    """Return assignments after a readonly one; each prints an error at every login, and ends a plain sh."""
    found, fixed = list[str](), set[str]()
    for one in assignments:
        if one.name in fixed and one.stated:
            found.append(f"{one.path}: {one.name}={one.value}")
        if one.readonly and one.surely:
            fixed.add(one.name)
    return found


def _read_login_assignments(files: Files, bash_files: Sequence[str]) -> list[Assignment]:
    """Return the assignments in the order in which a login shell meets them.

    Debian's /etc/profile sources /etc/bash.bashrc ahead of profile.d, RHEL's sources /etc/bashrc last.
    """
    text = host_text.read_text(files, LOGIN) or ""
    sourced: list[tuple[int, list[Assignment]]] = []
    middle = text.find("/profile.d/")
    scripts = [one for path in _list_profile_d_scripts(files, text) for one in _read_declarations(files, path)]
    sourced.append((text.count("\n", 0, middle) + 1 if middle >= 0 else 0, scripts))
    for path in bash_files:
        for number, line in host_text.number_lines(text):
            if re.search(rf"^[^#]*(?:\.|\bsource)[ \t]+[\"']?{path}\b", line):
                sourced.append((number, _read_declarations(files, path)))
    own = [(one.line, [one]) for one in _read_declarations(files, LOGIN)]
    return [one for _, made in sorted([*sourced, *own], key=lambda place: place[0]) for one in made]


def _list_profile_d_scripts(files: Files, profile_text: str) -> Iterator[str]:
    yield from host_text.glob_paths_like_shell(files, FOLDER)
    yield from host_text.glob_paths_like_shell(files, LOCAL) if LOCAL in profile_text else ()


def _read_declarations(files: Files, path: str) -> list[Assignment]:
    return parse_assignments_and_readonly_names(host_text.read_text(files, path) or "", path)


def _parse_seconds_with_zero_as_infinite(value: str) -> float:
    """Return seconds; 0 and never are infinite, as in bash."""
    return float("inf") if value == _NEVER or int(value) == 0 else int(value)


def _find_unsafe_path_parts(assignments: Iterable[Assignment]) -> list[str]:
    """Return what is unsafe in assignments of PATH, each once: relative or unknown folders, or no system folder."""
    return sorted({found for one in assignments if one.name == "PATH" for found in _list_unsafe_parts(one)})


def _list_unsafe_parts(assignment: Assignment) -> Iterator[str]:
    if assignment.readonly:
        yield "a PATH that later scripts cannot change"
    if assignment.unset:
        yield "no PATH at all"
    if assignment.unset or not assignment.stated:
        return
    added = assignment.value.removeprefix("PATH+=")
    whole = _PATH_REFERENCE.sub(_spell_path_reference, added.replace('"', "").replace("'", ""))
    parts = whole.split(":")
    parts = parts[1:] if added != assignment.value and not parts[0] else parts  # `PATH+=:/usr/local/bin`
    yield from (part or "an empty folder" for part in parts if part != _OLD_PATH and not _SAFE_FOLDER.fullmatch(part))
    if added == assignment.value and not {_OLD_PATH, "/usr/bin", "/bin"} & set(parts):
        yield f"no /usr/bin in {assignment.value}"


def _spell_path_reference(match: re.Match[str]) -> str:
    """Return $PATH with the colon that `${PATH:+:$PATH}` has in front of it, or behind."""
    return f"{':' * (':+:' in match[0])}{_OLD_PATH}{':' * match[0].endswith(':}')}"
