"""Texts of the table's rules, in our own words: one template for each kind of rule."""

from dataclasses import dataclass, replace

from app.skills.stig.checks.audit_rules_control_switches import RULES
from app.skills.stig_wide.checks.kernel_settings import DROP_IN
from app.skills.stig_wide.rule_table_schema import AuditEntry, FileEntry, ModuleEntry, ValueEntry
from app.syntax.audit_rule_normalization import AuditRule, parse_audit_rule
from app.syntax.limits_conf import MAIN as LIMITS

_SOURCE = "/etc/audit/rules.d/audit.rules"


@dataclass(frozen=True)
class EntryTexts:
    title: str
    requirement: str
    fix: str


def describe_option(entry: ValueEntry, path: str) -> EntryTexts:
    name, file, words = entry.name, path.rpartition("/")[2], entry.accepted_values_text
    if entry.flag:
        needs = f"{path} has to carry the line {name}."
        return EntryTexts(f"{file} carries the line {name}", needs, _format_add_lines_instruction(path, [name]))
    title = f"{name} in {file} is {words}"
    requirement = f"{name} in {path} has to be {words}, and every line that states it has to say so."
    value = entry.value_to_set
    if value.replace("/", "").isalnum() or value.lstrip("-").isdigit():
        return EntryTexts(title, requirement, f"Set {name} to {value} in {file}.")
    sign = " " if path.startswith("/etc/ssh/") else " = "
    return EntryTexts(title, requirement, _format_add_lines_instruction(path, [f"{name}{sign}{value}"]))


def describe_option_in_named_file(entry: FileEntry) -> EntryTexts:
    line = f"{entry.key}{' ' if entry.path.endswith('chrony.conf') else '='}{entry.value_to_set}"
    fix = _format_add_lines_instruction(entry.path, [line], entry.section)
    return replace(describe_option(entry, entry.path), fix=fix)


def describe_login_limit(entry: ValueEntry) -> EntryTexts:
    return EntryTexts(
        f"The limit {entry.key} is {entry.accepted_values_text} for every account",
        f"A row of limits.conf or limits.d has to hold every account to {entry.key} {entry.accepted_values_text} "
        "with a hard limit, and no row may say anything else.",
        f"Set the option `hard {entry.key}` to {entry.value_to_set} in {LIMITS.rpartition('/')[2]}.",
    )


def describe_kernel_setting(entry: ValueEntry) -> EntryTexts:
    key, value = entry.key, entry.value_to_set
    stated = "a file of sysctl.d has to state it, and no line after it may change it"
    requirement = f"The host has to start with {key} = {value}: {stated}."
    fix = f"Set {key} to {value}." if value.isalnum() else _format_add_lines_instruction(DROP_IN, [f"{key} = {value}"])
    return EntryTexts(f"The kernel setting {key} is {value}", requirement, fix)


def describe_module(entry: ModuleEntry) -> EntryTexts:
    lines = [f"install {entry.module} /bin/false", f"blacklist {entry.module}"]
    return EntryTexts(
        f"The kernel does not load {entry.module}",
        f"modprobe.d has to carry `{lines[0]}` and `{lines[1]}`.",
        _format_add_lines_instruction(f"/etc/modprobe.d/{entry.module}.conf", lines),
    )


def describe_audit_lines(entry: AuditEntry) -> EntryTexts:
    events = [parsed for line in entry.lines if (parsed := parse_audit_rule(line.split()))]
    fix = "\n\n".join(_format_add_lines_instruction(path, entry.lines) for path in (_SOURCE, RULES))
    return EntryTexts(
        _describe_events(events) if events else f"The audit rules carry {entry.lines[0]}",
        f"{RULES} has to record what the fix says. Another key, and more calls in a line, are as good.",
        f"{fix}\n\nThe second file is made from the first when the audit rules are loaded.",
    )


def _describe_events(events: list[AuditRule]) -> str:
    calls = sorted({call for one in events for call in one.calls})
    paths = sorted({path for one in events for path in one.get_values("path")})
    if not paths:
        raised = any(name == "-C" for one in events for name, _, _ in one.fields)
        return f"Calls of {_join_names(calls)}{' that raise rights' if raised else ''} are recorded"
    runs = any(one.get_values("perm") == ["x"] for one in events)
    return f"{'Runs of' if runs else 'Changes to'} {_join_names(paths)} are recorded"


def _join_names(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _format_add_lines_instruction(path: str, lines: list[str] | tuple[str, ...], section: str = "") -> str:
    which = "line" if len(lines) == 1 else "lines"
    where = f"to the section [{section}] of {path}" if section else f"to {path}"
    return f"Add the following {which} {where}:\n\n" + "\n".join(lines)
