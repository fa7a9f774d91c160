"""The wide STIG skill: the thirty rules of `stig`, and those of a table over the files that Temper can parse."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec

from app.skills.skill import Check, Rule, Skill
from app.skills.stig.checks import lockout_and_password_length, login_defs_auditd_and_dnf_options
from app.skills.stig.checks.login_defs_auditd_and_dnf_options import WantedOption
from app.skills.stig.pack import STIG
from app.skills.stig.site_values import apply_site_values
from app.skills.stig_wide import rule_texts
from app.skills.stig_wide.checks.audit_events import create_audit_events_check
from app.skills.stig_wide.checks.blocked_kernel_modules import create_module_ban_check
from app.skills.stig_wide.checks.kernel_settings import create_kernel_setting_check
from app.skills.stig_wide.checks.limits_conf_rows import create_limit_check
from app.skills.stig_wide.checks.option_lines import (
    OptionSource,
    adapt_parser_without_problems,
    create_every_line_check,
    parse_stated_family_file,
    parse_stated_family_ignoring_blanks,
)
from app.skills.stig_wide.checks.sshd_option_lines import create_sshd_lines_check
from app.skills.stig_wide.rule_table_schema import AnyEntry, FileEntry, ModuleEntry, RuleTable, TableSection, ValueEntry
from app.syntax import key_value_config_parsers, sshd
from app.syntax.host_text import fold_case

_LOGIN_DEFS = OptionSource(
    login_defs_auditd_and_dnf_options.LOGIN_DEFS,
    adapt_parser_without_problems(key_value_config_parsers.parse_login_defs),
)
_AUDITD = OptionSource(
    login_defs_auditd_and_dnf_options.AUDITD, key_value_config_parsers.parse_auditd_with_problems, normalize=fold_case
)
_DNF = OptionSource(
    login_defs_auditd_and_dnf_options.DNF, adapt_parser_without_problems(key_value_config_parsers.parse_ini)
)
_PWQUALITY = OptionSource(
    lockout_and_password_length.PWQUALITY,
    adapt_parser_without_problems(key_value_config_parsers.parse_options),
    (lockout_and_password_length.PWQUALITY_FOLDER,),
    fold_case,
)
_FAILLOCK = OptionSource(
    lockout_and_password_length.FAILLOCK, adapt_parser_without_problems(key_value_config_parsers.parse_options)
)


def load_table() -> RuleTable:
    """Load the table. Raises msgspec.ValidationError if an entry is not understood."""
    return msgspec.convert(tomllib.loads((Path(__file__).parent / "table.toml").read_text(encoding="utf-8")), RuleTable)


def build_rules(table: RuleTable) -> dict[str, Rule]:
    create_sshd_check = _adapt_rule_id_check_maker_to_entries(create_sshd_lines_check)
    rules = [
        *_build_section(table.sshd, create_sshd_check, lambda one: rule_texts.describe_option(one, sshd.MAIN)),
        *_build_options(table.login_defs, _LOGIN_DEFS),
        *_build_options(table.pwquality, _PWQUALITY, "pam_pwquality.so"),
        *_build_options(table.faillock, _FAILLOCK, "pam_faillock.so"),
        *_build_options(table.auditd, _AUDITD),
        *_build_options(table.dnf, _DNF),
        *_build_section(table.stated, _create_file_option_check, rule_texts.describe_option_in_named_file),
        *_build_section(
            table.limits, _adapt_rule_id_check_maker_to_entries(create_limit_check), rule_texts.describe_login_limit
        ),
        *_build_section(
            table.sysctl,
            _adapt_rule_id_check_maker_to_entries(create_kernel_setting_check),
            rule_texts.describe_kernel_setting,
        ),
        *_build_section(
            table.modprobe, lambda rule, one: create_module_ban_check(rule, one.module), rule_texts.describe_module
        ),
        *_build_section(
            table.audit, lambda rule, one: create_audit_events_check(rule, one.lines), rule_texts.describe_audit_lines
        ),
    ]
    return {rule.id: rule for rule in rules}


def _adapt_rule_id_check_maker_to_entries(
    create_check: Callable[[str, WantedOption], Check],
) -> Callable[[str, ValueEntry], Check]:
    return lambda rule, entry: create_check(rule, entry.wanted)


def _build_options(section: TableSection[ValueEntry], source: OptionSource, pam_module: str = "") -> Iterator[Rule]:
    check = partial(_create_option_check, source, pam_module)
    return _build_section(section, check, lambda one: rule_texts.describe_option(one, source.path))


def _build_section(
    section: TableSection[AnyEntry],
    create_check: Callable[[str, AnyEntry], Check],
    describe: Callable[[AnyEntry], rule_texts.EntryTexts],
) -> Iterator[Rule]:
    for rule, entry in section.rules.items():
        texts = describe(entry)
        gap = "\n\n" if "\n" in texts.fix else " "  # apart from a line that the fix states
        yield Rule(
            id=rule,
            stig_id=entry.stig_id,
            category=entry.category,
            title=texts.title,
            requirement=texts.requirement,
            fix=f"{texts.fix}{gap}{section.how}" if section.how else texts.fix,
            paths=_list_entry_own_paths(entry) or section.paths,
            check=create_check(rule, entry),
            irreversible=entry.irreversible,
            breaks=entry.breaks,
        )


def _list_entry_own_paths(entry: AnyEntry) -> tuple[str, ...]:
    if isinstance(entry, FileEntry):
        return (entry.path, *entry.also)
    if isinstance(entry, ModuleEntry):
        return (f"/etc/modprobe.d/{entry.module}.conf", "/etc/modprobe.d/*.conf")
    return ()


def _create_option_check(source: OptionSource, pam_module: str, rule: str, entry: ValueEntry) -> Check:
    stated = create_every_line_check(rule, source, entry.wanted)
    return (
        lockout_and_password_length.add_pam_override_check(stated, pam_module, entry.wanted) if pam_module else stated
    )


def _create_file_option_check(rule: str, entry: FileEntry) -> Check:
    source = OptionSource(
        entry.path, parse_stated_family_file if entry.strict else parse_stated_family_ignoring_blanks, entry.also
    )
    return create_every_line_check(rule, source, replace(entry.wanted, key=entry.key_prefixed_with_section))


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
