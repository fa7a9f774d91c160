"""Finds the literal commands and lines in a rule's fix text, and returns each step as a typed action.

DISA's fix texts say what to write between sentences: "Add the following line to /etc/x:", an empty line, the line.
"""

import re
from collections.abc import Iterator

from msgspec import ValidationError, convert

from app.candidates.scratch_files import ScratchFiles, Undecidable
from app.errors import TemperError
from app.events.vocabulary import AnyAction, AppendLine, SetOption
from app.syntax import host_text
from app.syntax.files import Files
from app.targets.file_changes import plan_changes

_PATH = re.compile(r"(/etc/[A-Za-z0-9_.@/-]*[A-Za-z0-9])")
_COMMAND = re.compile(r"^\$ (?:sudo )?(.+)$")
_CHMOD = re.compile(r"chmod ([0-7]{3,4}) (/[\w./-]+)")
_PACKAGES = re.compile(r"(?:dnf|yum)(?: -y)? (install|remove) ([\w.+-]+)")
_UNIT = re.compile(r"systemctl (?:--now )?(enable|disable|mask|unmask|start|stop)(?: --now)? ([\w@.:-]+)")
_OPTION = re.compile(r"^([A-Za-z][\w.]*)(?:\s*=\s*|\s+)(\S.*)$")
_SENTENCE = re.compile(r"[.:?]$|^(?:Note|Then|If|Or|To|Add|The|For|Where)\b")
_WHOLE_LINES = (
    "/etc/audit/",
    "/etc/modprobe.d/",
    "/etc/pam.d/",
    "/etc/sudoers",
    "/etc/profile",
    "/etc/security/limits",
)
_MOST_LINES = 12


def find_stated_actions(fix: str, files: Files) -> tuple[AnyAction, ...]:
    """Return what the text says to do, as far as this host lacks it. Raises Undecidable if it has no literal step."""
    steps = [*_find_resource_actions(fix), *_find_lines(fix, files)]
    if not steps:
        raise Undecidable("The fix text holds no line and no command that a typed action can have.")
    return tuple(dict.fromkeys(steps))


def _find_resource_actions(fix: str) -> Iterator[AnyAction]:
    for line in fix.split("\n"):
        command = _COMMAND.match(line.strip())
        if command is None:
            continue
        if found := _PACKAGES.match(command[1]):
            yield from _convert_action({"do": f"{found[1]}_package", "package": found[2]})
        elif found := _UNIT.match(command[1]):
            unit = found[2] if "." in found[2] else f"{found[2]}.service"
            yield from _convert_action({"do": "set_unit", "unit": unit, "to": found[1]})
        elif found := _CHMOD.match(command[1]):
            yield from _convert_action({"do": "chmod", "path": found[2], "mode": found[1].zfill(4)})


def _find_lines(fix: str, files: Files) -> Iterator[AnyAction]:
    """Yield an action for each literal line that follows a sentence which names its file."""
    path, announced, scratch = "", False, ScratchFiles(files)
    count = 0
    for line in map(str.strip, fix.split("\n")):
        if not line:
            continue
        named = _PATH.findall(line)
        if _COMMAND.match(line) or _SENTENCE.search(line):
            path = named[-1] if named else path
            announced = line.endswith(":") and not _COMMAND.match(line)
        elif announced and path and count < _MOST_LINES and not line.startswith("#"):
            count += 1
            if (action := _write_line(path, line, scratch)) is not None:
                yield action


def _write_line(path: str, line: str, scratch: ScratchFiles) -> AnyAction | None:
    text = scratch.read_text(path) or ""
    if line in (one.strip() for one in text.split("\n")):
        return None
    option = _OPTION.match(line)
    choices: list[AnyAction] = [AppendLine(path=path, line=line)]
    if option and not path.startswith(_WHOLE_LINES):
        choices.insert(0, SetOption(path=path, key=option[1], value=option[2]))
    for action in choices:
        try:
            made = plan_changes([action], scratch.now)
        except TemperError:
            continue
        if path in made:
            scratch.write_text(path, host_text.decode_bytes(made[path].content))
        return action
    return None


def _convert_action(action: dict[str, str]) -> Iterator[AnyAction]:
    try:
        yield convert(action, AnyAction)
    except ValidationError:
        return
