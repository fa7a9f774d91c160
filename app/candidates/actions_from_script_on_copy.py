"""Turns a rule's own script into typed actions, by running it on a walled copy of the host's files.

The script itself never touches the host: what it made of the copy is written as typed actions, which are judged,
approved and undone like any other.
"""

from collections.abc import Iterator

from msgspec import ValidationError, convert

from app.candidates.scratch_files_to_actions import ScratchFiles, Undecidable
from app.events.event_field_types import AnyAction
from app.resources.account import AgeSetting, SetAgeing
from app.resources.vendor_script import LONGEST, create_vendor_action
from app.syntax import host_text
from app.syntax.host_files_protocol import Files, FileState
from app.targets.resources.resource_dry_run import DryRun
from app.targets.target import Target

_GENERATES = "/usr/share/pam-configs/"
"""From these files the script has generated others, which are taken as they came out."""
_SHADOW, _ACCOUNTS = "/etc/shadow", ("/etc/passwd", "/etc/group", "/etc/gshadow")
_BACKUPS = ("/etc/passwd-", "/etc/shadow-", "/etc/group-", "/etc/gshadow-")
_AGES: tuple[tuple[int, AgeSetting], ...] = ((3, "min"), (4, "max"), (5, "warn"), (6, "inactive"))
"""The fields of /etc/shadow with ageing."""


def try_script_on_copy_and_translate(rule_id: str, text: str, target: Target) -> tuple[AnyAction, ...]:
    """Return the typed actions that change the host's files as the script changes a copy of them.

    Raises Undecidable if the script cannot be tried, or does what no typed action does.
    """
    if len(text) > LONGEST:
        raise Undecidable(f"The content's script has more than {LONGEST} characters and is not tried.")
    foreseen = target.assess_actions((create_vendor_action(rule_id, text),), frozenset()).foreseen
    if foreseen.lacking:
        raise Undecidable(f"The content's script cannot be tried on a copy: {foreseen.lacking.rstrip('.')}.")
    if any(path in foreseen.files for path in _ACCOUNTS):
        raise Undecidable("The content's script changes accounts, which a person decides.")
    scratch = ScratchFiles(target.files)
    for path, state in foreseen.files.items():
        if path not in (_SHADOW, *_BACKUPS) and not path.startswith(_GENERATES):
            scratch.write_state(path, state)
    ages = _derive_ageing(target.files, foreseen.files.get(_SHADOW))
    return (*scratch.derive_actions(), *ages, *_derive_permissions(foreseen))


def _derive_ageing(files: Files, shadow_after: FileState | None) -> Iterator[SetAgeing]:
    """Yield an action for each changed field with ageing. No line of the file with passwords is repeated."""
    before = files.state(_SHADOW)
    if shadow_after is None or before is None:
        return
    old, new = _split_shadow_lines_into_fields(before), _split_shadow_lines_into_fields(shadow_after)
    if len(old) != len(new):
        raise Undecidable("The content's script adds or removes accounts, which a person decides.")
    for was, now in zip(old, new, strict=True):
        kept = [field for place, field in enumerate(was) if place not in dict(_AGES)]
        if len(was) != len(now) or kept != [field for place, field in enumerate(now) if place not in dict(_AGES)]:
            raise Undecidable("The content's script changes accounts or passwords, which a person decides.")
        for place, setting in _AGES:
            if was[place] == now[place]:
                continue
            if not now[place].isdecimal():
                raise Undecidable("The content's script clears an account's ageing, which no typed action does.")
            yield SetAgeing(account=now[0], setting=setting, days=int(now[place]))


def _split_shadow_lines_into_fields(state: FileState) -> list[list[str]]:
    return [line.split(":") for line in host_text.decode_bytes(state.content).split("\n") if line.count(":") == 8]


def _derive_permissions(foreseen: DryRun) -> Iterator[AnyAction]:
    for path, one in foreseen.permissions.items():
        try:
            yield convert({"do": "set_permissions", "path": path, "mode": one.mode, "owner": one.owner}, AnyAction)
        except ValidationError as exc:
            raise Undecidable(f"The content's script gives {path} an owner that no typed action takes.") from exc
