"""The few commands of tasks whose answer can be told from a host's files, or that only load what was written."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from app.candidates.scratch_files_to_actions import ScratchFiles, Undecidable
from app.candidates.stated_line_placement import place_stated_line
from app.skills.stated_settings import find_boot_argument_lines
from app.syntax import host_text
from app.syntax.host_files_protocol import Files
from app.targets.subjects.stated_setting_file_families import find_stated_family

Outcome = dict[str, Any]
_LOADS = ("update-grub", "grub2-mkconfig", "augenrules", "sync")
"""A reload follows the change in any case, and is not left to the tasks."""
_SETS_KERNEL = re.compile(r"-p|--load|--system|.*=").match
"""An option of sysctl that loads files, or a key with its value; without one, sysctl only prints values."""
SHARED_MEMORY = {"device": "tmpfs", "mount": "/dev/shm", "fstype": "tmpfs", "options": "rw,nosuid,nodev"}  # noqa: S108
"""As systemd mounts it."""
_OTHER_GRAMMAR = re.compile(r"\\[(){}|+?<>]|\[\[:")
"""What a basic regular expression of grep spells in another way than Python."""
_LITERAL = re.compile(r"[(){}|+?]")
"""What stands for itself there."""


def do_command_and_predict_output(arguments: Any, scratch: ScratchFiles) -> Outcome:
    """Do what the command does to files; return what a task would register of it. Undecidable for one not known."""
    line = arguments.get("cmd", arguments.get("_raw_params", "")) if isinstance(arguments, Mapping) else arguments
    if stated := [*find_boot_argument_lines(str(line))]:
        placed = [place_stated_line(one, family, scratch) for one in stated if (family := find_stated_family(one.path))]
        return _build_outcome((), changed=any(placed))
    files = scratch.now
    try:
        words = shlex.split(str(line))
    except ValueError as exc:
        raise Undecidable(f"The command {str(line)[:60]!r} cannot be read: {exc}") from exc
    match words:
        case ["grep", pattern, path] if not pattern.startswith("-"):
            return _answer_grep(pattern, path, files)
        case ["findmnt", "--fstab", place]:
            return _answer_findmnt(place, read_fstab(files))
        case ["findmnt", place] if place.startswith("/"):
            return _answer_findmnt(place, read_expected_mounts(files))
        case [program, *_] if program.rpartition("/")[2] in _LOADS:
            return _build_outcome((), changed=True)
        case [program, *options] if program.rpartition("/")[2] == "sysctl" and any(map(_SETS_KERNEL, options)):
            return _build_outcome((), changed=True)
    raise Undecidable("The module command does what cannot be told beforehand.")


def read_expected_mounts(files: Files) -> list[dict[str, str]]:
    """Return what /etc/fstab mounts, and /dev/shm, which is mounted without it. What is mounted now is in no file."""
    found = read_fstab(files)
    return found if any(one["mount"] == SHARED_MEMORY["mount"] for one in found) else [*found, SHARED_MEMORY]


def read_fstab(files: Files) -> list[dict[str, str]]:
    lines = [line.split() for line in (host_text.read_text(files, "/etc/fstab") or "").split("\n")]
    named = [words for words in lines if len(words) >= 4 and not words[0].startswith("#")]
    return [{"device": one[0], "mount": one[1], "fstype": one[2], "options": one[3]} for one in named]


def _answer_grep(pattern: str, path: str, files: Files) -> Outcome:
    if _OTHER_GRAMMAR.search(pattern):
        raise Undecidable(f"The pattern {pattern[:60]!r} is not one of this language.")
    try:
        found = re.compile(_LITERAL.sub(r"\\\g<0>", pattern))
    except re.error as exc:
        raise Undecidable(f"The pattern {pattern[:60]!r} is not one of this language: {exc}") from exc
    text = host_text.read_text(files, path)
    if text is None:
        return _build_outcome((), code=2)
    lines = [line for line in text.split("\n") if found.search(line)]
    return _build_outcome(lines, code=0 if lines else 1)


def _answer_findmnt(mount_point: str, mounts: Sequence[Mapping[str, str]]) -> Outcome:
    found = [one for one in mounts if one["mount"] == mount_point]
    if not found:
        return _build_outcome((), code=1)
    last = found[-1]
    row = " ".join((last["mount"], last["device"], last["fstype"], last["options"]))
    return _build_outcome(("TARGET SOURCE FSTYPE OPTIONS", row))


def _build_outcome(lines: Sequence[str], *, code: int = 0, changed: bool = False) -> Outcome:
    return {"rc": code, "stdout": "\n".join(lines), "stdout_lines": list(lines), "stderr": "", "changed": changed}
