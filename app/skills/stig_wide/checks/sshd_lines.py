"""Checks of sshd's options where a shadowed line counts, too: an auditor's search shows every line that sshd reads."""

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.options import WantedOption
from app.skills.stig.checks.sshd import create_sshd_value_check
from app.skills.stig.checks.verdicts import RuleJudge, format_location, quote_host_text
from app.syntax import sshd
from app.syntax.files import Files
from app.syntax.host_text import fold_case
from app.syntax.sshd import SshdConfigLine


def create_sshd_lines_check(rule: str, wanted: WantedOption) -> Check:
    in_force = create_sshd_value_check(rule, wanted.key, wanted.accepts, wanted.words)

    def check_files(files: Files) -> Verdict:
        verdict = in_force(files)
        if verdict.word != "pass":
            return verdict
        config = sshd.read_sshd_config(files)
        if joined := next((one.directive.arguments for one in config.lines if _is_joined(one, wanted)), None):
            quoted = quote_host_text(f'"{next(one for one in joined if " " in one)}"')
            return RuleJudge(rule, sshd.MAIN).fails(f"{verdict.evidence} But sshd takes {quoted} for one word.")
        wrong = next((one for one in config.list_all(wanted.key) if not wanted.accepts(one.value)), None)
        if wrong is None:
            return verdict
        sets = f"{format_location(wrong)} sets it to '{quote_host_text(wrong.value)}'"
        contrary = f"{verdict.evidence} But {sets}, which has no effect until the first line goes."
        return RuleJudge(rule, sshd.MAIN).fails(contrary, wrong)

    return check_files


def _is_joined(one: SshdConfigLine, wanted: WantedOption) -> bool:
    """Return True if the line sets the option and quotes two values as one: sshd drops what follows the blank."""
    named = fold_case(one.directive.keyword) == fold_case(wanted.key)
    return named and any(" " in argument for argument in one.directive.arguments)
