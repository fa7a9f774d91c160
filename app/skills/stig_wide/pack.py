"""The wide STIG skill: the thirty rules of `stig`, and those of a table over the files that Temper can parse."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec

from app.skills.skill import Check, Rule, Skill
from app.skills.stig.checks import options, passwords
from app.skills.stig.pack import STIG
from app.skills.stig.site_values import apply_site_values
from app.skills.stig_wide.checks.audit_events import check_audit_events
from app.skills.stig_wide.checks.kernel_settings import DROP_IN, check_kernel_setting
from app.skills.stig_wide.checks.login_limits import check_limit
from app.skills.stig_wide.checks.module_lines import check_module_banned
from app.skills.stig_wide.checks.option_lines import (
    OptionSource,
    check_every_line,
    parse_family,
    parse_loose_family,
    without_problems,
)
from app.skills.stig_wide.checks.sshd_lines import check_sshd_lines
from app.skills.stig_wide.rule_texts import (
    EntryTexts,
    describe_audit_lines,
    describe_file_option,
    describe_kernel_setting,
    describe_limit,
    describe_module,
    describe_option,
)
from app.skills.stig_wide.table_entry import AnyEntry, FileEntry, ModuleEntry, RuleTable, TableSection, ValueEntry
from app.syntax import keyvalue
from app.syntax.host_text import fold_case

_LOGIN_DEFS = OptionSource(options.LOGIN_DEFS, without_problems(keyvalue.parse_login_defs))
_AUDITD = OptionSource(options.AUDITD, keyvalue.parse_auditd, normalize=fold_case)
_DNF = OptionSource(options.DNF, without_problems(keyvalue.parse_ini))
_PWQUALITY = OptionSource(
    passwords.PWQUALITY, without_problems(keyvalue.parse_options), (passwords.PWQUALITY_FOLDER,), fold_case
)
_FAILLOCK = OptionSource(passwords.FAILLOCK, without_problems(keyvalue.parse_options))


def load_table() -> RuleTable:
    """Load the table. Raises msgspec.ValidationError if an entry is not understood."""
    return msgspec.convert(tomllib.loads((Path(__file__).parent / "table.toml").read_text(encoding="utf-8")), RuleTable)


def build_rules(table: RuleTable) -> dict[str, Rule]:
    rules = [
        *_build_section(table.sshd, _check_sshd, lambda one: describe_option(one, "/etc/ssh/sshd_config")),
        *_build_options(table.login_defs, _LOGIN_DEFS),
        *_build_options(table.pwquality, _PWQUALITY, "pam_pwquality.so"),
        *_build_options(table.faillock, _FAILLOCK, "pam_faillock.so"),
        *_build_options(table.auditd, _AUDITD),
        *_build_options(table.dnf, _DNF),
        *_build_section(table.stated, _check_file, describe_file_option),
        *_build_section(table.limits, lambda rule, one: check_limit(rule, one.wanted), describe_limit),
        *_build_section(
            table.sysctl,
            lambda rule, one: check_kernel_setting(rule, one.wanted),
            lambda one: describe_kernel_setting(one, DROP_IN),
        ),
        *_build_section(table.modprobe, lambda rule, one: check_module_banned(rule, one.module), describe_module),
        *_build_section(table.audit, lambda rule, one: check_audit_events(rule, one.lines), describe_audit_lines),
    ]
    return {rule.id: rule for rule in rules}


def _build_options(section: TableSection[ValueEntry], source: OptionSource, module: str = "") -> list[Rule]:
    check = partial(_check_option, source, module)
    return _build_section(section, check, lambda one: describe_option(one, source.path))


def _build_section(
    section: TableSection[AnyEntry], check: Callable[[str, AnyEntry], Check], describe: Callable[[AnyEntry], EntryTexts]
) -> list[Rule]:
    return [_build_rule(rule, entry, section, check, describe(entry)) for rule, entry in section.rules.items()]


def _build_rule(
    rule: str,
    entry: AnyEntry,
    section: TableSection[AnyEntry],
    check: Callable[[str, AnyEntry], Check],
    texts: EntryTexts,
) -> Rule:
    return Rule(
        id=rule,
        stig_id=entry.stig_id,
        category=entry.category,
        title=texts.title,
        requirement=texts.requirement,
        fix=_join_how(texts.fix, section.how),
        paths=_list_paths(entry) or section.paths,
        check=check(rule, entry),
        irreversible=entry.irreversible,
        breaks=entry.breaks,
    )


def _join_how(fix: str, how: str) -> str:
    """Return the fix with how it is gone about, apart from a line that the fix states."""
    gap = "\n\n" if "\n" in fix else " "
    return f"{fix}{gap}{how}" if how else fix


def _list_paths(entry: AnyEntry) -> tuple[str, ...]:
    if isinstance(entry, FileEntry):
        return (entry.path, *entry.also)
    if isinstance(entry, ModuleEntry):
        return (f"/etc/modprobe.d/{entry.module}.conf", "/etc/modprobe.d/*.conf")
    return ()


def _check_sshd(rule: str, entry: ValueEntry) -> Check:
    return check_sshd_lines(rule, entry.wanted)


def _check_option(source: OptionSource, module: str, rule: str, entry: ValueEntry) -> Check:
    stated = check_every_line(rule, source, entry.wanted)
    return passwords.check_pam_overrides(stated, module, entry.wanted) if module else stated


def _check_file(rule: str, entry: FileEntry) -> Check:
    source = OptionSource(entry.path, parse_family if entry.strict else parse_loose_family, entry.also)
    return check_every_line(rule, source, replace(entry.wanted, key=entry.full_key))


def _apply_values(values: Mapping[str, str]) -> Skill:
    return replace(SKILL, rules=apply_site_values(SKILL.rules, values))


SKILL = STIG_WIDE = Skill(
    name="stig_wide",
    title="DISA STIG for RHEL 9: the thirty rules, and those of a table that agrees with DISA's own checks",
    rules={**STIG.rules, **build_rules(load_table())},
    parameters=STIG.parameters,
    valued=STIG.value_skill,
    retuned=_apply_values,
)
