"""The settings that an edit is about: the names in each changed line of a file with such names."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from app.syntax import limits_conf, modprobe
from app.targets.subjects import (
    audit_rule_policy,
    backup_config_policy,
    option_tables,
    pam_policy,
    shell_profile_policy,
    sudoers_policy,
)
from app.targets.subjects import kernel_module_policy as modules_subject
from app.targets.subjects import limits_conf_policy as limits_subject
from app.targets.subjects.file_edit_given_to_judges import FileEdit, Judge, is_content_line
from app.targets.subjects.option_file_policy import OptionJudge
from app.targets.subjects.stated_setting_policy import StatedFileJudge

Keys = tuple[str, ...]
_UNKEYED = (option_tables.CRYPTO_POLICY, option_tables.CRYPTO_MODULE)
"""Their one purpose is the list of algorithms; a rule names the file and the list, and not the policy's own word."""
_CONTROL = re.compile(r"(-[abdefwD]|--[a-z_-]+)\b")
_CALLS, _PLACES = re.compile(r"-S ?(\S+)"), re.compile(r"(?:-w |-F (?:path|dir)=)(\S+)")
_COMPARED = re.compile(r"-C (\S+)")
_DEFAULT = re.compile(r"\s*Defaults\S*\s+(.*)")
_TAGS = re.compile(r"NOPASSWD|authenticate")
_VARIABLE = re.compile(r"\b(TMOUT|umask)\b")
_MODULE = re.compile(r"(\S*/)?(pam_\w+)\.so")


def iterate_changed_lines_and_keys(edit: FileEdit) -> Iterator[tuple[str, Keys]]:
    """Yield each changed line with its keys, of which one has to be named; none for a line or file without keys."""
    for line in filter(is_content_line, edit.added):
        yield line, _get_keys(edit.judge, line, edit.removed)
    for line in filter(is_content_line, edit.removed):
        replaced = edit.judge is audit_rule_policy.judge_audit_edit and _has_same_audit_control(line, edit.added)
        yield line, () if replaced else _get_keys(edit.judge, line, edit.added)


def _get_keys(judge: Judge, line: str, opposite_lines: Sequence[str]) -> Keys:
    if judge in (pam_policy.judge_pam_edit, pam_policy.judge_su_edit):
        return _get_pam_keys(line, opposite_lines)
    if isinstance(judge, OptionJudge):
        return () if judge in _UNKEYED else tuple(setting.key for setting in judge.read(line))
    if isinstance(judge, StatedFileJudge):
        match = judge.family.pattern.fullmatch(line)
        return (match["key"],) if match else ()
    find = _FINDERS.get(judge)
    return find(line) if find else ()


def _get_pam_keys(line: str, opposite_lines: Sequence[str]) -> Keys:
    """Return the module of a rule that came or went, with its arguments; of a rule that stays, what changed in it."""
    module = _MODULE.search(line)
    if module is None:
        return ()
    ahead, arguments = line[: module.start()].split(), line[module.end() :].split()
    same = next((other for other in opposite_lines if (found := _MODULE.search(other)) and found[2] == module[2]), None)
    if same is None:
        return module[2], *_list_names_before_equals_signs(arguments)
    if same.split(module[0])[0].split() != ahead:
        return (module[2],)
    return _list_names_before_equals_signs(word for word in arguments if word not in same.split())


def _list_names_before_equals_signs(arguments: Iterable[str]) -> Keys:
    return tuple(word.partition("=")[0] for word in arguments)


def _get_audit_keys(line: str) -> Keys:
    """Return the whole line of a control: `-e 1` and `-e 2` are different wishes, and `-e` any word of a shell."""
    if _get_audit_control(line):
        return (" ".join(line.split()),)
    places = [path.rstrip("/") for path in _PLACES.findall(line)]
    calls = [call for calls in _CALLS.findall(line) for call in calls.split(",")]
    more = ["privileged"] if "perm=x" in line else []
    return (*places, *calls, *_COMPARED.findall(line), *more)


def _get_audit_control(line: str) -> str:
    control = _CONTROL.match(line)
    return control[1] if control and control[1] not in ("-a", "-w") else ""


def _has_same_audit_control(line: str, opposite_lines: Iterable[str]) -> bool:
    """Return True if one of the other lines sets the same control."""
    control = _get_audit_control(line)
    return bool(control) and any(_get_audit_control(other) == control for other in opposite_lines)


def _get_sudo_keys(line: str) -> Keys:
    default = _DEFAULT.match(line)
    words = re.findall(r"[a-z_]+", default[1].partition("=")[0]) if default else _TAGS.findall(line)
    return tuple(words)


def _get_module_names_in_both_spellings(line: str) -> Keys:
    """Return the modules in both spellings: texts have firewire-core and firewire_core."""
    modules = [one.module for one in modprobe.parse_module_lines(line, "")]
    return tuple(dict.fromkeys([*modules, *(module.replace("_", "-") for module in modules)]))


def _get_only_names_of_limited_items(line: str) -> Keys:
    return tuple(one.item for one in limits_conf.parse_limits(line, ""))


_FINDERS: dict[Judge, Callable[[str], Keys]] = {
    audit_rule_policy.judge_audit_edit: _get_audit_keys,
    sudoers_policy.judge_sudoers_edit: _get_sudo_keys,
    shell_profile_policy.judge_profile_edit: lambda line: tuple(_VARIABLE.findall(line)),
    modules_subject.judge_modules_edit: _get_module_names_in_both_spellings,
    limits_subject.judge_limits_edit: _get_only_names_of_limited_items,
    backup_config_policy.judge_backup_edit: lambda line: tuple(one.key for one in option_tables.parse_ini_line(line)),
}
