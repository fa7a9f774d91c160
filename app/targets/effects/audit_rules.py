"""What the kernel audits: by audit.rules now, and by rules.d after the next start of auditd."""

from collections.abc import Mapping

from app.resources.kind import Objection
from app.syntax import audit_rule_files, host_text
from app.syntax.audit_rule_files import AuditLine
from app.syntax.host_files_protocol import Files
from app.targets.effects import strictness_comparison as strictness
from app.targets.effects.audit_load_simulation import LoadedRules, load_audit_lines
from app.targets.effects.daemon_base import UNSET, Daemon
from app.targets.effects.shadowed_audit_keys import list_earlier_rules_taking_key_of_each_rule
from app.targets.effects.strictness_comparison import Compare, Strength, compare_unranked, create_ranked_comparison

LOADED, SOURCES = "/etc/audit/audit.rules", "/etc/audit/rules.d/*.rules"
GENERATED = (LOADED, f"{LOADED}.prev")
"""What augenrules writes: the rules that it loads, and what stood there before."""
_NEXT = " at the next start"
_RECORDED = "recorded"
_BUT = ", but for "
_DEFAULTS: Mapping[str, str] = {"-e": "1", "-f": "1", "-b": "64", "-r": "0", "--backlog_wait_time": "60000"}
_MOST_BACKLOG = 1_000_000


_SCALES: Mapping[str, Compare] = {
    **dict.fromkeys(("-e", "-f"), create_ranked_comparison("0", "1", "2")),
    # A very large backlog uses too much kernel memory.
    "-b": strictness.create_capped_higher_comparison(_MOST_BACKLOG),
    # Above 0, records beyond the rate are lost.
    "-r": create_ranked_comparison("1", "0"),
    # A shorter wait loses a burst sooner, or panics the kernel.
    "--backlog_wait_time": strictness.compare_higher,
    "--loginuid-immutable": create_ranked_comparison(UNSET, "yes"),
}


class AuditRules(Daemon):
    """Not asked: auditctl reads only the running kernel."""

    name = "audit"
    areas = ("/etc/audit/audit.rules", "/etc/audit/rules.d/")
    scales = _SCALES

    def read_settings(self, files: Files) -> Mapping[str, str]:
        """Return what would be recorded if each line that the kernel rejects were skipped.

        So what stands behind such a line is protected, too; find_load_objection judges the rejected lines.
        """
        now = _build_settings_from_loaded(load_audit_lines(read_audit_rules_file(files), files))
        sources = find_source_lines_if_any_file(files)
        later = now if sources is None else _build_settings_from_loaded(load_audit_lines(sources, files))
        return {**now, **{f"{key}{_NEXT}": value for key, value in later.items()}}

    def find_load_objection(self, before: Files, after: Files) -> Objection | None:
        """Return the objection to a line that would stop loading, with the kernel's reason.

        Lines that the kernel rejects already are not the change's fault.
        """
        for read in (read_audit_rules_file, find_source_lines_if_any_file):
            lines = read(after)
            known = {fault.identity for fault in load_audit_lines(read(before) or [], before).faults}
            for fault in load_audit_lines(lines or [], after).faults:
                if fault.identity not in known:
                    return Objection("evidence tampering", fault.describe())
        return None

    def compare_values(self, key: str, was: str, now: str) -> Strength:
        name = key.removesuffix(_NEXT)
        if name.startswith("rule "):
            return _compare_rule_setting_values(was, now)
        return super().compare_values(name, was, now)


def read_audit_rules_file(files: Files) -> list[AuditLine]:
    return audit_rule_files.parse_audit_lines(host_text.read_text(files, LOADED) or "", LOADED)


def find_source_lines_if_any_file(files: Files) -> list[AuditLine] | None:
    """Return the lines that augenrules would load; None if the host has no rules.d."""
    sources = audit_rule_files.sort_by_version(host_text.glob_paths_like_shell(files, SOURCES))
    texts = [(path, host_text.read_text(files, path) or "") for path in sources]
    return audit_rule_files.merge_rule_files_like_augenrules(texts) if sources else None


def has_generated_rules(files: Files) -> bool:
    """Return True if audit.rules has what augenrules makes of rules.d, so that nobody else has written it."""
    sources = find_source_lines_if_any_file(files)
    return sources is not None and [one.words for one in read_audit_rules_file(files)] == [one.words for one in sources]


def _build_settings_from_loaded(loaded: LoadedRules) -> dict[str, str]:
    found = dict(_DEFAULTS)
    for line in loaded.options:
        switch = line.system_setting
        found[switch.key if switch else " ".join(line.words)] = (switch.value if switch else "") or "yes"
    return {**found, **_build_settings_from_rules(list(loaded.rules))}


def _build_settings_from_rules(rules: list[str]) -> dict[str, str]:
    """Return each rule with what stands in front of it: exceptions, and rules that record its events by another key.

    The first matching rule decides both. A rule of several system calls is a setting for each, so that one more takes
    nothing away.
    """
    found, exceptions = dict[str, str](), list[str]()
    recorded = [rule for rule in rules if not audit_rule_files.is_exception(rule)]
    takers = dict(zip(recorded, list_earlier_rules_taking_key_of_each_rule(recorded), strict=True))
    for rule in rules:
        if audit_rule_files.is_exception(rule):
            exceptions.append(rule)
        else:
            first = [f"what {taker!r} records first, by another key" for taker in takers[rule]]
            for one in _split_by_call(rule):
                found.setdefault(f"rule {one}", _BUT.join([_RECORDED, *exceptions, *first]))
    return {**found, "exceptions": _BUT.join(sorted(exceptions))} if exceptions else found


def _split_by_call(rule: str) -> list[str]:
    before, flag, rest = rule.partition(" -S ")
    calls, _, after = rest.partition(" ")
    return [f"{before}{flag}{call} {after}".rstrip() for call in calls.split(",")] if flag else [rule]


def _compare_rule_setting_values(was: str, now: str) -> Strength:
    if not was or not now:
        return Strength.WEAKER if was else Strength.STRONGER
    return (
        strictness.compare_allowed_sets(was.split(_BUT), now.split(_BUT)) if was != now else compare_unranked(was, now)
    )
