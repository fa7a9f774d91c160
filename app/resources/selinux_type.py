"""The SELinux type of a folder and of all that is in it: only a type that is known to keep more programs out."""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec import Meta

from app.resources import kind

_FOLDER = "(?:/[A-Za-z0-9_-]+)+"
"""Names that mean the same to a shell, to a pattern of the policy and to a person."""
_TYPE = "[a-z][a-z0-9_]*_t"
_EVERYTHING_IN_IT = r"(/.*)?"
COMMAND = re.compile(
    rf"\bsemanage fcontext (?:-a|-m|--add|--modify) (?:-t|--type) (?P<type>{_TYPE}) "
    rf"(?P<quote>[\"'])(?P<folder>{_FOLDER}){re.escape(_EVERYTHING_IN_IT)}(?P=quote)(?!\S)"
)
_NO_FOLDER = "no folder"
"""As app/targets/ssh/remote/selinux_type.sh prints it."""
_STATE = re.compile(rf"(?P<label>{_NO_FOLDER}|{_TYPE}), policy (?P<policy>{_TYPE})")
_AREAS = ("/var/log/", "/var/lib/")
_OWN_FOLDER = "/var/lib/temper"
_KEEPS_OUT = ("faillog_t",)
"""Types that only the programs of logins may write."""
_OF_WHOLE_TREES = ("var_t", "var_log_t", "var_lib_t", "default_t", "unlabeled_t")
"""Types that a folder has if nothing gives it one of its own; programs that the policy confines keep others."""


class SetSelinuxType(kind.ResourceAction, frozen=True, tag="set_selinux_type"):
    """Set the SELinux type of a folder and its contents, in the policy and on the files. A missing folder is made."""

    folder: Annotated[str, Meta(max_length=128, pattern=f"^{_FOLDER}$")]
    type: Annotated[str, Meta(max_length=64, pattern=f"^{_TYPE}$")]


def find_candidates(rule: kind.RuleTexts) -> Iterator[SetSelinuxType]:
    return (SetSelinuxType(folder=found["folder"], type=found["type"]) for found in COMMAND.finditer(rule.text))


def judge_folder(action: SetSelinuxType) -> kind.Objection | None:
    folder = action.folder
    if folder.startswith(_AREAS) and not f"{folder}/".startswith(f"{_OWN_FOLDER}/"):
        return None
    reason = f"{folder}: types are set only in folders of {' and '.join(_AREAS)}, and not in Temper's own."
    return kind.Objection("destruction", reason)


def judge_types(foreseen: kind.ForeseenStates) -> kind.Objection | None:
    ours = foreseen.iterate_names_and_states("selinux_type")
    return next((found for path, one in ours if (found := _judge_type(path, one.before, one.after))), None)


def _judge_type(path: str, before: str, after: str) -> kind.Objection | None:
    was, now = _STATE.fullmatch(before), _STATE.fullmatch(after)
    if was is None or now is None:
        return kind.Objection("not understood", f"{path}: its SELinux type cannot be read.")
    for new in (now["label"], now["policy"]):
        if new not in _KEEPS_OUT:
            reason = f"{path}: {new} is not known to keep programs out; a person decides."
            return kind.Objection("weakening", reason)
    for old in (was["label"], was["policy"]):
        if old not in (_NO_FOLDER, now["policy"], *_OF_WHOLE_TREES):
            reason = f"{path}: the programs that use {old} may need it; a person decides."
            return kind.Objection("destruction", reason)
    return None


def _build_commands(action: SetSelinuxType, _: Sequence[str]) -> tuple[kind.ShellCommands, ...]:
    """The folder, the policy's line and the labels are a step each: a host may lack some of them."""
    at, rule = shlex.quote(action.folder), shlex.quote(action.folder + _EVERYTHING_IN_IT)
    look, label = f'[ "$(%s {at} 2>/dev/null | cut -d: -f3)" = {action.type} ]', f"restorecon -R {at}"
    in_policy = look % "matchpathcon -n"
    # A line of the host's own for this folder would be lost by undoing: then nothing is changed.
    add = f"! semanage fcontext -l -C | grep -qF {rule} && semanage fcontext -N -a -t {action.type} {rule}"
    return (
        kind.ShellCommands(f"[ -d {at} ]", f"mkdir -m 755 {at}", f"rmdir {at}"),
        kind.ShellCommands(in_policy, add, f"{in_policy} && semanage fcontext -N -d {rule} && {label}"),
        kind.ShellCommands(look % "stat -c %C", label, label),
    )


KIND = kind.ResourceKind(
    name="selinux_type",
    actions=(SetSelinuxType,),
    find_candidates=find_candidates,
    is_possible=lambda action, host: bool(host.text) and host.text != f"{action.type}, policy {action.type}",
    list_words=lambda action: (action.type,),
    judge_action=judge_folder,
    judge_states=judge_types,
    build_commands=_build_commands,
    hazard="SELinux",
)
