"""Checks of audit switches, in the loaded rules and in what augenrules loads at the next start."""

from app.scanners.verdict import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.verdicts import Bench, place, shown
from app.syntax import audit, keyvalue, source
from app.syntax.audit import AuditLine
from app.syntax.files import Files
from app.syntax.setting import Setting

RULES = "/etc/audit/audit.rules"
SOURCES = "/etc/audit/rules.d/*.rules"


def panics(rule: str) -> Check:
    return _switch(rule, "-f", "2", final=False)


def locks(rule: str) -> Check:
    return _switch(rule, "-e", "2", final=True)


def _switch(rule: str, key: str, wanted: str, *, final: bool) -> Check:
    bench = Bench(rule, RULES)

    @bench.reads
    def check(files: Files, text: str) -> Verdict:
        lines = audit.audit_lines(text, RULES)
        stated = [s for s in audit.controls(text, RULES) if s.key == key]
        if not stated:
            return bench.fails(f"{RULES} has no line {key} {wanted}.")
        decides = stated[-1]
        if decides.value != wanted:
            return bench.fails(
                f"{place(decides)} says '{key} {shown(decides.value)}'; {key} {wanted} is wanted.", decides
            )
        if final and lines[-1].line != decides.line:
            behind = _setting(lines[-1])
            return bench.fails(f"{place(decides)} locks the rules, and {place(behind)} stands behind it.", behind)
        for other in keyvalue.read(files, source.glob(files, SOURCES), audit.controls):
            if other.key == key and other.value != wanted:
                return bench.fails(
                    f"{place(decides)} says {key} {wanted}, but {place(other)} says '{key} {shown(other.value)}', "
                    "which augenrules writes back at the next start.",
                    other,
                )
        return bench.passes(f"{place(decides)} says {key} {wanted}.", decides)

    return check


def _setting(line: AuditLine) -> Setting:
    return Setting(line.words[0], "", line.path, line.line)
