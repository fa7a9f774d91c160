"""Checks that the audit rules record given events, in whatever lines and under whatever keys."""

from collections.abc import Sequence

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.audit_rules_control_switches import RULES
from app.skills.stig.checks.verdict_builder import RuleJudge
from app.syntax import audit_rule_files
from app.syntax.audit_rule_files import AuditLine
from app.syntax.audit_rule_normalization import AuditRule, parse_audit_rule
from app.syntax.host_files_protocol import Files

_DELETE, _LOCK = ("-D",), ("-e", "2")


def create_audit_events_check(rule: str, lines: Sequence[str]) -> Check:
    """Check that each line's events are recorded. Another order of fields, another key and more calls are as good."""
    bench = RuleJudge(rule, RULES)
    wanted = [(line, parse_audit_rule(line.split())) for line in lines]

    @bench.create_text_check
    def check_files(_: Files, text: str) -> Verdict:
        loaded = _select_loaded(audit_rule_files.parse_audit_lines(text, RULES))
        found = [(parsed, one) for one in loaded if (parsed := parse_audit_rule(one.words))]
        last: AuditLine | None = None
        for line, event in wanted:
            if event is None:
                last = next((one for one in loaded if " ".join(one.words) == line), None)
                missing = [] if last else [line]
            else:
                records = {call: _find_recording_line(found, event, call) for call in event.calls or ("",)}
                missing = [call for call, at in records.items() if at is None]
                last = next(reversed(records.values()))
            if missing:
                return bench.fails(
                    _describe_what_rules_lack(line, [call for call in missing if call not in {"", line}])
                )
        assert last is not None
        others = "and lines above it record" if len(wanted) > 1 else "records"
        return bench.passes_at(last, f"{others} what is wanted.")

    return check_files


def _select_loaded(lines: Sequence[AuditLine]) -> list[AuditLine]:
    """Return the lines in the kernel's order, without those that -D above or -e 2 below keep out of it.

    -A puts its rule before all others.
    """
    kept: list[AuditLine] = []
    for line in lines:
        if line.words == _DELETE:
            kept = []
        elif line.words == _LOCK:
            break
        elif line.words[:1] == ("-A",):
            kept.insert(0, line)
        else:
            kept.append(line)
    return kept


def _find_recording_line(
    loaded_rules: Sequence[tuple[AuditRule, AuditLine]], event: AuditRule, call: str
) -> AuditLine | None:
    """Return the line that records the event for a call; None if there is none or an exception is ahead of it."""
    for rule, line in loaded_rules:
        if rule.calls and call not in rule.calls:
            continue
        if _has_same_fields_and_wanted_permissions(rule, event):
            return line
        if rule.where == "never,exit" and {field for field in rule.fields if field[0] != "key"} <= set(event.fields):
            return None
    return None


def _has_same_fields_and_wanted_permissions(rule: AuditRule, wanted: AuditRule) -> bool:
    if rule.where != wanted.where or _list_fields_except_key_perm(rule) != _list_fields_except_key_perm(wanted):
        return False
    asked, given = wanted.get_values("perm"), rule.get_values("perm")
    if not given:
        return asked in ([], ["x"])
    return len(given) == 1 and bool(asked) and set(asked[0]) <= set(given[0])


def _list_fields_except_key_perm(rule: AuditRule) -> list[tuple[str, str, str]]:
    return sorted(field for field in rule.fields if field[0] not in {"key", "perm"})


def _describe_what_rules_lack(wanted_line: str, unrecorded_calls: Sequence[str]) -> str:
    if not unrecorded_calls:
        return f"{RULES} does not have what this line says: {wanted_line}."
    word = "the call" if len(unrecorded_calls) == 1 else "the calls"
    return f"{RULES} does not record {word} {', '.join(unrecorded_calls)} as this line would: {wanted_line}."
