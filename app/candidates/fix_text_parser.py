"""Finds the literal commands and lines in a rule's fix text, and returns each step as a typed action.

DISA's fix texts say what to write between sentences: "Add the following line to /etc/x:", an empty line, the line.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import ValidationError, convert

from app.candidates.scratch_files_to_actions import ScratchFiles, Undecidable
from app.candidates.stated_line_placement import place_stated_line
from app.errors import TemperError
from app.events.event_field_types import AnyAction, AppendLine, Chmod, ReplaceLine, SetOption, WriteFile
from app.resources import selinux_type
from app.resources.account import AgeSetting, SetAgeing, is_weaker_age
from app.resources.unit import SetUnit
from app.skills.stated_settings import COMMAND, PLACEHOLDER, find_stated_lines
from app.syntax import host_text
from app.syntax.host_files_protocol import Files
from app.syntax.option_writing_by_file_path import can_set_option
from app.targets.host_accounts import read_host_accounts
from app.targets.planned_file_states import compute_changed_file_states
from app.targets.subjects.stated_setting_file_families import find_stated_family

_CHMOD = re.compile(r"chmod ([0-7]{3,4}) \"?(/[\w./-]*[\w-])\"?$")
"""A path with a placeholder or a wildcard is none of one file."""
_PACKAGES = re.compile(r"(?:dnf|yum)(?: -y)? (install|remove) ([\w.+-]+)")
_UNIT = re.compile(
    r"systemctl (?:--now )?(enable --now|enable|disable|mask|unmask|start|stop|set-default)(?: --now)? ([\w@.:-]+)"
)
_POLICY = re.compile(r"update-crypto-policies --set ([A-Z0-9]+(?::[A-Z0-9_-]+)*)$")
_OVERRULED = {"disable": {"mask"}, "stop": {"disable", "mask"}, "start": {"enable", "enable-now"}}
"""A verb that another one of the same unit includes, or makes of no use from the next boot on."""
_AGEING = re.compile(
    r"(?:\$ )?(?:sudo )?(?:chage -(?P<chage>[Mm])|passwd -(?P<passwd>[xn])) (?P<days>\d{1,5}) [\[<][A-Za-z_ ]+[\]>]$"
)
"""The command for "each account that does not comply", which the text leaves open."""
_AGE_SETTINGS: dict[str, AgeSetting] = {"M": "max", "m": "min", "x": "max", "n": "min"}
_FIRST_USER, _NOBODY = 1000, 65534
_OPTION = re.compile(r"^([A-Za-z][\w.]*)(?:\s*=\s*|\s+)(\S.*)$")
_SET_SENTENCE = re.compile(r"Set (?:the option )?`?([A-Za-z][\w.]*(?: [a-z]\w*)?)`? to ([\w/.-]*\w)(?=[\s.,;]|$)")
_UMASK = re.compile(r"\bumask 0?[0-7]{3}\b")
_SUDOERS = "/etc/sudoers.d/"
_STACKS = "/etc/pam.d/"
_PAM_RULE = re.compile(r"(\S+)\s+(\S+)\s+(\S+\.so)\b(.*)")
_PAM_CALLS = frozenset({"preauth", "authfail", "authsucc"})
"""pam_faillock has a line of its own for each of these."""
_WHOLE_LINES = (
    "/etc/audit/",
    "/etc/modprobe.d/",
    "/etc/pam.d/",
    "/etc/sudoers",
    "/etc/profile",
    "/etc/security/limits",
)


def require_stated_actions(fix: str, files: Files) -> tuple[AnyAction, ...]:
    """Return what the text says to do, as far as this host lacks it: nothing if it has all lines of the text already.

    Raises Undecidable if the text has no literal step, or leaves a value open.
    """
    resources = [*_find_command_actions_without_redundant_unit_verbs(fix), *_iterate_needed_ageing(fix, files)]
    modes = [one for one in resources if isinstance(one, Chmod)]
    steps = [*(one for one in resources if one not in modes), *_derive_stated_line_actions(fix, files), *modes]
    if not steps and not any(True for _ in find_stated_lines(fix)):
        raise Undecidable("The fix text holds no line and no command that a typed action can have.")
    return tuple(dict.fromkeys(steps))


def redirect_stated_lines_to_changed_path(fix: str, files: Files, changed_path: str) -> tuple[AnyAction, ...]:
    """Return actions that write to `changed_path` what the text has for another file of the program; often none."""
    family, placed = find_stated_family(changed_path), ScratchFiles(files)
    if family is None or family.partial or files.state(changed_path) is None:
        return ()
    for one in find_stated_lines(fix):
        if one.path != changed_path and find_stated_family(one.path) is family and not PLACEHOLDER.search(one.line):
            placed.write_text(
                changed_path, family.place_line(placed.read_text(changed_path) or "", one.section, one.line)
            )
    return tuple(placed.derive_actions())


def require_option_action_from_sentence(fix: str, path: str) -> tuple[AnyAction, ...]:
    """Return the setting that the text names in a sentence: "Set UMASK to 077". Raises Undecidable if it names none."""
    found = _SET_SENTENCE.match(fix)
    if found is None or "*" in path or not can_set_option(path):
        raise Undecidable("The fix text holds no line and no command that a typed action can have.")
    return (SetOption(path=path, key=found[1], value=found[2]),)


def _find_command_actions_without_redundant_unit_verbs(fix: str) -> Iterator[AnyAction]:
    found = [*_derive_command_actions(fix)]
    verbs: dict[str, set[str]] = {}
    for one in found:
        if isinstance(one, SetUnit):
            verbs.setdefault(one.unit, set()).add(one.to)
    return (one for one in found if not isinstance(one, SetUnit) or not _OVERRULED.get(one.to, set()) & verbs[one.unit])


def _derive_command_actions(fix: str) -> Iterator[AnyAction]:
    for line in fix.split("\n"):
        command = COMMAND.match(line.strip())
        if command is None:
            continue
        if found := _PACKAGES.match(command[1]):
            yield from _iterate_action_if_valid({"do": f"{found[1]}_package", "package": found[2]})
        elif found := _UNIT.match(command[1]):
            unit = found[2] if "." in found[2] else f"{found[2]}.service"
            yield from _iterate_action_if_valid({"do": "set_unit", "unit": unit, "to": found[1].replace(" --", "-")})
        elif found := _POLICY.match(command[1]):
            yield from _iterate_action_if_valid({"do": "set_crypto_policy", "policy": found[1]})
        elif found := selinux_type.COMMAND.match(command[1]):
            yield from _iterate_action_if_valid(
                {"do": "set_selinux_type", "folder": found["folder"], "type": found["type"]}
            )
        elif found := _CHMOD.match(command[1]):
            yield from _iterate_action_if_valid({"do": "chmod", "path": found[2], "mode": found[1].zfill(4)})


def _iterate_needed_ageing(fix: str, files: Files) -> Iterator[SetAgeing]:
    """Yield the ageing of each account whose own is weaker than the text asks for.

    An account without a password is left as it is, but a least age locks nobody out, so a person's gets that, too.
    """
    for found in filter(None, (_AGEING.match(line.strip()) for line in fix.split("\n"))):
        setting, days = _AGE_SETTINGS[found["chage"] or found["passwd"]], int(found["days"])
        accounts = read_host_accounts(files)
        people = {one.name for one in accounts.accounts if one.uid == 0 or _FIRST_USER <= one.uid < _NOBODY}
        for entry in accounts.shadow:
            now = entry.max_days if setting == "max" else entry.min_days
            is_meant = entry.has_password or (setting == "min" and entry.name in people)
            if is_meant and is_weaker_age(setting, days, now):
                yield SetAgeing(account=entry.name, setting=setting, days=days)


def _derive_stated_line_actions(fix: str, files: Files) -> Iterator[AnyAction]:
    """Yield the actions that write each literal line of the text."""
    scratch, placed = ScratchFiles(files), ScratchFiles(files)
    for one in find_stated_lines(fix):
        if PLACEHOLDER.search(one.line):
            raise Undecidable(f"The fix text leaves a value open, which a person decides: {one.line!r}.")
        family = find_stated_family(one.path)
        if family is None or family.partial:
            yield from _plan_and_apply_line(one.path, one.line, scratch)
            continue
        place_stated_line(one, family, placed)
    yield from placed.derive_actions()


def _plan_and_apply_line(path: str, line: str, scratch: ScratchFiles) -> Iterator[AnyAction]:
    text = scratch.read_text(path) or ""
    if _UMASK.fullmatch(line) and (edits := _derive_umask_edits(path, text, line)):
        yield from _apply_edits_and_return_them(edits, scratch)
        return
    if line in (one.strip() for one in text.split("\n")):
        return
    if path.startswith(_STACKS) and (rule := _find_pam_rule_differing_in_arguments(text, line)):
        yield from _apply_edits_and_return_them([*_derive_edit_adding_missing_pam_arguments(path, rule, line)], scratch)
        return
    option = _OPTION.match(line)
    choices: list[AnyAction] = [AppendLine(path=path, line=line)]
    if path.startswith(_SUDOERS) and scratch.now.state(path) is None:
        choices = [WriteFile(path=path, content=f"{line}\n", mode="0440")]
    if option and not path.startswith(_WHOLE_LINES):
        choices.insert(0, SetOption(path=path, key=option[1], value=option[2]))
    for action in choices:
        try:
            made = compute_changed_file_states([action], scratch.now)
        except TemperError:
            continue
        if path in made:
            scratch.write_text(path, host_text.decode_bytes(made[path].content))
            scratch.change_mode(path, made[path].mode)
        yield action
        return


def _apply_edits_and_return_them(edits: Sequence[ReplaceLine], scratch: ScratchFiles) -> Sequence[ReplaceLine]:
    """Return the edits, once the next line that the text states finds them made."""
    for path, state in compute_changed_file_states(edits, scratch.now).items():
        scratch.write_text(path, host_text.decode_bytes(state.content))
    return edits


def _derive_umask_edits(path: str, text: str, line: str) -> list[ReplaceLine]:
    """Return the edits that give each umask of a script the line's number, whichever of them runs."""
    was = [one for one in dict.fromkeys(text.split("\n")) if not one.lstrip().startswith("#")]
    now = [_UMASK.sub(line, one) for one in was]
    return [ReplaceLine(path=path, old=old, new=new) for old, new in zip(was, now, strict=True) if old != new]


def _find_pam_rule_differing_in_arguments(text: str, line: str) -> str | None:
    """Return the one rule of a stack that differs from the line in the module's arguments alone."""
    wanted = _PAM_RULE.fullmatch(line)
    found = [
        one
        for one in text.split("\n")
        if (match := _PAM_RULE.fullmatch(one))
        and wanted
        and _get_pam_type_control_module_and_phases(match) == _get_pam_type_control_module_and_phases(wanted)
    ]
    return found[0] if len(found) == 1 else None


def _get_pam_type_control_module_and_phases(rule: re.Match[str]) -> tuple[str, str, str, frozenset[str]]:
    """Return type, control and module, and for which part of its work the stack calls the module."""
    kind, control, module, arguments = rule.groups()
    return kind, control, module, _PAM_CALLS.intersection(arguments.split())


def _derive_edit_adding_missing_pam_arguments(
    path: str, existing_line: str, fix_text_line: str
) -> Iterator[ReplaceLine]:
    if missing := [word for word in fix_text_line.split()[3:] if word not in existing_line.split()]:
        yield ReplaceLine(path=path, old=existing_line, new=f"{existing_line.rstrip()} {' '.join(missing)}")


def _iterate_action_if_valid(action_fields: dict[str, str]) -> Iterator[AnyAction]:
    try:
        yield convert(action_fields, AnyAction)
    except ValidationError:
        return
