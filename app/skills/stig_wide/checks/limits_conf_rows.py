"""Checks of limits.conf and limits.d, where every row for the item has to be right and one has to bind everybody."""

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.login_defs_auditd_and_dnf_options import WantedOption
from app.skills.stig.checks.verdict_builder import RuleJudge, escape_and_shorten_host_text
from app.syntax import limits_conf
from app.syntax.host_files_protocol import Files


def create_limit_check(rule: str, wanted: WantedOption) -> Check:
    bench = RuleJudge(rule, limits_conf.MAIN)

    def check_files(files: Files) -> Verdict:
        rows = [row for row in limits_conf.read_limits(files) if row.item == wanted.key]
        wrong = next((row for row in rows if not wanted.accepts(row.value)), None)
        if wrong is not None:
            who = "everybody" if wrong.domain == "*" else f"'{escape_and_shorten_host_text(wrong.domain)}'"
            sets = f"sets {wanted.key} to '{escape_and_shorten_host_text(wrong.value)}' for {who}"
            return bench.fails_at(wrong, f"{sets}; {wanted.words} is wanted.")
        stated = [row for row in rows if row.domain == "*" and row.is_hard]
        if not stated:
            return bench.fails(f"No row `* hard {wanted.key} {wanted.words}` stands in limits.conf or limits.d.")
        return bench.passes_at(stated[-1], f"sets {wanted.key} to {stated[-1].value} for everybody.")

    return check_files
