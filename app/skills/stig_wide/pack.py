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
from app.skills.stig_wide.checks.audit_events import create_audit_events_check
from app.skills.stig_wide.checks.blocked_kernel_modules import create_module_ban_check
from app.skills.stig_wide.checks.kernel_settings import DROP_IN, create_kernel_setting_check
from app.skills.stig_wide.checks.login_limits import create_limit_check
from app.skills.stig_wide.checks.option_lines import (
    OptionSource,
    adapt_parser_without_problems,
    create_every_line_check,
    parse_stated_family_file,
    parse_stated_family_ignoring_blanks,
)
from app.skills.stig_wide.checks.sshd_lines import create_sshd_lines_check
from app.skills.stig_wide.rule_table_schema import AnyEntry, FileEntry, ModuleEntry, RuleTable, TableSection, ValueEntry
from app.skills.stig_wide.rule_texts import (
    EntryTexts,
    describe_audit_lines,
    describe_file_option,
    describe_kernel_setting,
    describe_login_limit,
    describe_module,
    describe_option,
)
from app.syntax import option_parsers
from app.syntax.host_text import fold_case

_LOGIN_DEFS = OptionSource(options.LOGIN_DEFS, adapt_parser_without_problems(option_parsers.parse_login_defs))
_AUDITD = OptionSource(options.AUDITD, option_parsers.parse_auditd_with_problems, normalize=fold_case)
_DNF = OptionSource(options.DNF, adapt_parser_without_problems(option_parsers.parse_ini))
_PWQUALITY = OptionSource(
    passwords.PWQUALITY,
    adapt_parser_without_problems(option_parsers.parse_options),
    (passwords.PWQUALITY_FOLDER,),
    fold_case,
)
_FAILLOCK = OptionSource(passwords.FAILLOCK, adapt_parser_without_problems(option_parsers.parse_options))


def load_table() -> RuleTable:
    """Load the table. Raises msgspec.ValidationError if an entry is not understood."""
    return msgspec.convert(tomllib.loads((Path(__file__).parent / "table.toml").read_text(encoding="utf-8")), RuleTable)


def build_rules(table: RuleTable) -> dict[str, Rule]:
    rules = [
        *_build_section(table.sshd, _create_sshd_check, lambda one: describe_option(one, "/etc/ssh/sshd_config")),
        *_build_options(table.login_defs, _LOGIN_DEFS),
        *_build_options(table.pwquality, _PWQUALITY, "pam_pwquality.so"),
        *_build_options(table.faillock, _FAILLOCK, "pam_faillock.so"),
        *_build_options(table.auditd, _AUDITD),
        *_build_options(table.dnf, _DNF),
        *_build_section(table.stated, _create_file_option_check, describe_file_option),
        *_build_section(table.limits, lambda rule, one: create_limit_check(rule, one.wanted), describe_login_limit),
        *_build_section(
            table.sysctl,
            lambda rule, one: create_kernel_setting_check(rule, one.wanted),
            lambda one: describe_kernel_setting(one, DROP_IN),
        ),
        *_build_section(table.modprobe, lambda rule, one: create_module_ban_check(rule, one.module), describe_module),
        *_build_section(
            table.audit, lambda rule, one: create_audit_events_check(rule, one.lines), describe_audit_lines
        ),
    ]
    return {rule.id: rule for rule in rules}


def _build_options(section: TableSection[ValueEntry], source: OptionSource, pam_module: str = "") -> list[Rule]:
    check = partial(_create_option_check, source, pam_module)
    return _build_section(section, check, lambda one: describe_option(one, source.path))


def _build_section(
    section: TableSection[AnyEntry],
    create_check: Callable[[str, AnyEntry], Check],
    describe: Callable[[AnyEntry], EntryTexts],
) -> list[Rule]:
    return [_build_rule(rule, entry, section, create_check, describe(entry)) for rule, entry in section.rules.items()]


def _build_rule(
    rule: str,
    entry: AnyEntry,
    section: TableSection[AnyEntry],
    create_check: Callable[[str, AnyEntry], Check],
    texts: EntryTexts,
) -> Rule:
    return Rule(
        id=rule,
        stig_id=entry.stig_id,
        category=entry.category,
        title=texts.title,
        requirement=texts.requirement,
        fix=_append_fix_instructions(texts.fix, section.how),
        paths=_list_entry_own_paths(entry) or section.paths,
        check=create_check(rule, entry),
        irreversible=entry.irreversible,
        breaks=entry.breaks,
    )


def _append_fix_instructions(fix: str, instructions: str) -> str:
    """Return the fix with how it is gone about, apart from a line that the fix states."""
    gap = "\n\n" if "\n" in fix else " "
    return f"{fix}{gap}{instructions}" if instructions else fix


def _list_entry_own_paths(entry: AnyEntry) -> tuple[str, ...]:
    if isinstance(entry, FileEntry):
        return (entry.path, *entry.also)
    if isinstance(entry, ModuleEntry):
        return (f"/etc/modprobe.d/{entry.module}.conf", "/etc/modprobe.d/*.conf")
    return ()


def _create_sshd_check(rule: str, entry: ValueEntry) -> Check:
    return create_sshd_lines_check(rule, entry.wanted)


def _create_option_check(source: OptionSource, pam_module: str, rule: str, entry: ValueEntry) -> Check:
    stated = create_every_line_check(rule, source, entry.wanted)
    return passwords.add_pam_override_check(stated, pam_module, entry.wanted) if pam_module else stated


def _create_file_option_check(rule: str, entry: FileEntry) -> Check:
    source = OptionSource(
        entry.path, parse_stated_family_file if entry.strict else parse_stated_family_ignoring_blanks, entry.also
    )
    return create_every_line_check(rule, source, replace(entry.wanted, key=entry.full_key))


def _apply_values(values: Mapping[str, str]) -> Skill:
    return replace(SKILL, rules=apply_site_values(SKILL.rules, values))


SKILL = STIG_WIDE = Skill(
    name="stig_wide",
    title="DISA STIG for RHEL 9: the thirty rules, and those of a table that agrees with DISA's own checks",
    rules={**STIG.rules, **build_rules(load_table())},
    parameters=STIG.parameters,
    valued=STIG.site_value_skill_name,
    retuned=_apply_values,
)
