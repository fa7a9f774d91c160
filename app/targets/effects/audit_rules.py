"""What the kernel audits: by audit.rules now, and by rules.d after the next start of auditd."""

from collections.abc import Iterable, Mapping

from app.syntax import audit, host_text
from app.syntax.audit import AuditLine
from app.syntax.files import Files
from app.targets.effects.daemon import UNSET, Daemon
from app.targets.effects.strength import (
    Compare,
    Strength,
    compare_higher,
    compare_sets,
    compare_unranked,
    create_capped,
    create_ranking,
)

LOADED, SOURCES = "/etc/audit/audit.rules", "/etc/audit/rules.d/*.rules"
_NEXT = " at the next start"
_RECORDED = "recorded"
_BUT = ", but for "
_DEFAULTS: Mapping[str, str] = {"-e": "1", "-f": "1", "-b": "64", "-r": "0", "--backlog_wait_time": "60000"}
_MOST_BACKLOG = 1_000_000


_SCALES: Mapping[str, Compare] = {
    **dict.fromkeys(("-e", "-f"), create_ranking("0", "1", "2")),
    # A very large backlog uses too much kernel memory.
    "-b": create_capped(_MOST_BACKLOG),
    # Above 0, records beyond the rate are lost.
    "-r": create_ranking("1", "0"),
    # A shorter wait loses a burst sooner, or panics the kernel.
    "--backlog_wait_time": compare_higher,
    "--loginuid-immutable": create_ranking(UNSET, "yes"),
}


class AuditRules(Daemon):
    """Not asked: auditctl reads only the running kernel."""

    name = "audit"
    areas = ("/etc/audit/audit.rules", "/etc/audit/rules.d/")
    scales = _SCALES

    def read_settings(self, files: Files) -> Mapping[str, str]:
        now = evaluate_audit_lines(audit.parse_audit_lines(host_text.read_text(files, LOADED) or "", LOADED))
        sources = audit.sort_by_version(host_text.glob_files(files, SOURCES))
        text = audit.merge_rule_files(host_text.read_text(files, path) or "" for path in sources)
        later = evaluate_audit_lines(audit.parse_audit_lines(text, SOURCES)) if sources else now
        return {**now, **{f"{key}{_NEXT}": value for key, value in later.items()}}

    def compare_values(self, key: str, was: str, now: str) -> Strength:
        name = key.removesuffix(_NEXT)
        if name.startswith("rule "):
            return _compare_audit_rules(was, now)
        return super().compare_values(name, was, now)


def evaluate_audit_lines(lines: Iterable[AuditLine]) -> dict[str, str]:
    """Return the settings that lines produce, up to the lock (-e 2) or the first line that the kernel rejects."""
    found = dict(_DEFAULTS)
    rules: list[str] = []
    for line in lines:
        if line.words == ("-D",):
            rules.clear()
            continue
        switch, rule = line.switch, line.rule
        if rule is not None:
            if rule in rules:
                break
            rules.insert(0 if rule.startswith("-A") else len(rules), rule)
        elif switch is not None:
            found[switch.key] = switch.value or "yes"
        else:
            found[" ".join(line.words)] = "yes"
        if found["-e"] == "2":
            break
    return {**found, **_describe_rules(rules)}


def _describe_rules(rules: list[str]) -> dict[str, str]:
    """Return each rule with the exceptions in front of it; the first matching rule decides."""
    found, exceptions = {}, list[str]()
    for rule in rules:
        if audit.is_exception(rule):
            exceptions.append(rule)
        else:
            found[f"rule {rule}"] = _BUT.join([_RECORDED, *exceptions])
    return {**found, "exceptions": _BUT.join(sorted(exceptions))} if exceptions else found


def _compare_audit_rules(was: str, now: str) -> Strength:
    if not was or not now:
        return Strength.WEAKER if was else Strength.STRONGER
    return compare_sets(was.split(_BUT), now.split(_BUT)) if was != now else compare_unranked(was, now)
