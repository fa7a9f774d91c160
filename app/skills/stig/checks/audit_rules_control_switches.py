"""Checks of audit switches, in the loaded rules and in what augenrules loads at the next start."""

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.verdict_builder import RuleJudge, escape_and_shorten_host_text, format_location
from app.syntax import audit_rule_files, host_text, key_value_config_parsers
from app.syntax.host_files_protocol import Files

RULES = "/etc/audit/audit.rules"
SOURCES = "/etc/audit/rules.d/*.rules"


def create_control_check(rule: str, key: str, wanted: str) -> Check:
    """Check the value of a control. The one that locks the rules has to stand behind them all."""
    bench = RuleJudge(rule, RULES)

    @bench.create_text_check
    def check_files(files: Files, text: str) -> Verdict:
        lines = audit_rule_files.parse_audit_lines(text, RULES)
        stated = [s for s in audit_rule_files.parse_controls(text, RULES) if s.key == key]
        if not stated:
            return bench.fails(f"{RULES} has no line {key} {wanted}.")
        decides = stated[-1]
        if decides.value != wanted:
            return bench.fails_at(
                decides, f"says '{key} {escape_and_shorten_host_text(decides.value)}'; {key} {wanted} is wanted."
            )
        if key == "-e" and lines[-1].line != decides.line:
            both = f"{format_location(decides)} locks the rules, and {format_location(lines[-1])} stands behind it."
            return bench.fails(both, lines[-1])
        for other in key_value_config_parsers.read_setting_files(
            files, host_text.glob_paths_like_shell(files, SOURCES), audit_rule_files.parse_controls
        ):
            if other.key == key and other.value != wanted:
                return bench.fails(
                    f"{format_location(decides)} says {key} {wanted}, but {format_location(other)} "
                    f"says '{key} {escape_and_shorten_host_text(other.value)}', "
                    "which augenrules writes back at the next start.",
                    other,
                )
        return bench.passes_at(decides, f"says {key} {wanted}.")

    return check_files
