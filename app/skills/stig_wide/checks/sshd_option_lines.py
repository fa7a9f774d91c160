"""Checks of sshd's options where a shadowed line counts, too: an auditor's search shows every line that sshd reads."""

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.login_defs_auditd_and_dnf_options import WantedOption
from app.skills.stig.checks.sshd import create_stated_sshd_value_check
from app.skills.stig.checks.verdict_builder import RuleJudge, escape_and_shorten_host_text, format_location
from app.syntax import sshd
from app.syntax.host_files_protocol import Files
from app.syntax.host_text import fold_case
from app.syntax.sshd import SshdConfigLine


def create_sshd_lines_check(rule: str, wanted: WantedOption) -> Check:
    in_force = create_stated_sshd_value_check(rule, wanted.key, wanted.accepts, wanted.words)

    def check_files(files: Files) -> Verdict:
        verdict = in_force(files)
        if verdict.word != "pass":
            return verdict
        config = sshd.read_sshd_config(files)
        if joined := next(
            (one.directive.arguments for one in config.lines if _has_values_quoted_together(one, wanted)), None
        ):
            quoted = escape_and_shorten_host_text(f'"{next(one for one in joined if " " in one)}"')
            return RuleJudge(rule, sshd.MAIN).fails(f"{verdict.evidence} But sshd takes {quoted} for one word.")
        wrong = next((one for one in config.list_global_settings(wanted.key) if not wanted.accepts(one.value)), None)
        if wrong is None:
            return verdict
        sets = f"{format_location(wrong)} sets it to '{escape_and_shorten_host_text(wrong.value)}'"
        contrary = f"{verdict.evidence} But {sets}, which has no effect until the first line goes."
        return RuleJudge(rule, sshd.MAIN).fails(contrary, wrong)

    return check_files


def _has_values_quoted_together(config_line: SshdConfigLine, wanted: WantedOption) -> bool:
    """Return True if the line sets the option and quotes two values as one: sshd drops what follows the blank."""
    named = fold_case(config_line.directive.keyword) == fold_case(wanted.key)
    return named and any(" " in argument for argument in config_line.directive.arguments)
