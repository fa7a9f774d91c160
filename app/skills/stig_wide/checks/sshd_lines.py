"""Checks of sshd's options where a shadowed line counts, too: an auditor's search shows every line that sshd reads."""

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.options import WantedOption
from app.skills.stig.checks.sshd import check_sshd_value
from app.skills.stig.checks.verdicts import RuleJudge, format_location, quote_host_text
from app.syntax import sshd
from app.syntax.files import Files


def check_sshd_lines(rule: str, wanted: WantedOption) -> Check:
    in_force = check_sshd_value(rule, wanted.key, wanted.accepts, wanted.words)

    def check_files(files: Files) -> Verdict:
        verdict = in_force(files)
        if verdict.word != "pass":
            return verdict
        lines = sshd.read_sshd_config(files).list_all(wanted.key)
        wrong = next((one for one in lines if not wanted.accepts(one.value)), None)
        if wrong is None:
            return verdict
        sets = f"{format_location(wrong)} sets it to '{quote_host_text(wrong.value)}'"
        contrary = f"{verdict.evidence} But {sets}, which has no effect until the first line goes."
        return RuleJudge(rule, sshd.MAIN).fails(contrary, wrong)

    return check_files
