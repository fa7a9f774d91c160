"""Checks of options in login.defs, auditd.conf and dnf.conf, each by its reader's precedence."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.verdict_builder import RuleJudge, escape_and_shorten_host_text
from app.syntax import key_value_config_parsers
from app.syntax.host_files_protocol import Files
from app.syntax.host_text import create_range_predicate, fold_case
from app.syntax.key_value_config_parsers import Parser
from app.syntax.setting import Setting, find_last

LOGIN_DEFS = "/etc/login.defs"
AUDITD = "/etc/audit/auditd.conf"
DNF = "/etc/dnf/dnf.conf"


@dataclass(frozen=True)
class WantedOption:
    key: str
    accepts: Callable[[str], bool]
    words: str
    """The accepted values, in words."""

    @property
    def name(self) -> str:
        return self.key.rpartition(".")[2]


def create_password_age_check(rule: str, most: int) -> Check:
    wanted = WantedOption("PASS_MAX_DAYS", create_range_predicate(1, most), f"1 to {most}")
    return create_last_line_check(RuleJudge(rule, LOGIN_DEFS), key_value_config_parsers.parse_login_defs, wanted)


def create_exact_umask_check(rule: str, mask: str) -> Check:
    """Check all UMASK lines: useradd uses the last, pam_umask the first, ignoring case."""
    bench = RuleJudge(rule, LOGIN_DEFS)

    @bench.create_text_check
    def check_files(_: Files, text: str) -> Verdict:
        lines = [s for s in key_value_config_parsers.parse_login_defs(text, LOGIN_DEFS) if fold_case(s.key) == "umask"]
        wrong = next((s for s in lines if s.value not in {mask, f"0{mask}"}), None)
        if wrong is not None:
            sets = f"sets {escape_and_shorten_host_text(wrong.key)}{format_to_quoted_value(wrong)}"
            return bench.fails_at(wrong, f"{sets}; {mask} is wanted.")
        stated = find_last(lines, "UMASK")
        if stated is None:
            return bench.fails(f"{LOGIN_DEFS} does not state UMASK; {mask} is wanted.")
        return bench.passes_at(stated, f"sets UMASK{format_to_quoted_value(stated)}.")

    return check_files


def create_disk_full_check(
    rule: str, accepted_actions: frozenset[str] = frozenset({"halt", "single", "syslog"})
) -> Check:
    """Check disk_full_action. SYSLOG is for hosts whose service counts for more than their records."""
    bench = RuleJudge(rule, AUDITD)
    words = " or ".join(one.upper() for one in sorted(accepted_actions))
    wanted = WantedOption("disk_full_action", lambda value: fold_case(value) in accepted_actions, words)

    @bench.create_text_check
    def check_files(_: Files, text: str) -> Verdict:
        settings, problems = key_value_config_parsers.parse_auditd_with_problems(text, AUDITD)
        for problem in problems:
            if problem.key == wanted.key:
                return bench.build_error_verdict_for_unreadable_setting(problem)
        return _judge_settings(bench, settings, wanted)

    return check_files


def create_package_signature_check(rule: str) -> Check:
    true = {"1", "yes", "true", "on"}
    wanted = WantedOption("main.gpgcheck", lambda value: fold_case(value) in true, "1 in section [main]")
    return create_last_line_check(RuleJudge(rule, DNF), key_value_config_parsers.parse_ini, wanted)


def create_last_line_check(rule_judge: RuleJudge, parse: Parser, wanted: WantedOption) -> Check:
    return rule_judge.create_text_check(
        lambda _, text: _judge_settings(rule_judge, parse(text, rule_judge.path), wanted)
    )


def _judge_settings(rule_judge: RuleJudge, settings: Iterable[Setting], wanted: WantedOption) -> Verdict:
    stated = [s for s in settings if s.key == wanted.key]
    if not stated:
        return rule_judge.fails(f"{rule_judge.path} does not state {wanted.name}; {wanted.words} is wanted.")
    decides = stated[-1]
    sets = f"sets {wanted.name}{format_to_quoted_value(decides)}"
    if wanted.accepts(decides.value):
        return rule_judge.passes_at(decides, f"{sets}.")
    shadowed = next((s for s in stated if wanted.accepts(s.value)), None)
    late = f" The last line wins, so line {shadowed.line} has no effect." if shadowed else ""
    return rule_judge.fails_at(decides, f"{sets}; {wanted.words} is wanted.{late}")


def format_to_quoted_value(setting: Setting) -> str:
    return f" to '{escape_and_shorten_host_text(setting.value)}'" if setting.value else ""
