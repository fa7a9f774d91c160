"""Selects the fixes of a run that can be repeated on other hosts, and explains the others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from app.events.event_field_types import FileAction, FileChange, PublishedRule
from app.evidence.playbook.line_edits_from_recorded_changes import (
    NotRecorded,
    PlaybookEdit,
    derive_edits,
    fold_later_edits_unless_undone,
)
from app.evidence.run_record import RuleRecord, RunRecord
from app.resources.kind import ResourceAction, ShellCommands
from app.resources.registry import get_kind
from app.skills.skill import Rule
from app.targets.ssh.service_activator import list_services_to_reload
from app.text.clean import clean_text

_LONGEST = 300


@dataclass(frozen=True)
class PlainCheck:
    """A probe that a host's own tools can run. `script` runs in sh, changes nothing, and exits 0 if it passes."""

    probe: str
    asks: str
    script: str


_CHECKS = msgspec.toml.decode(
    Path(__file__).with_name("health_checks.toml").read_bytes(), type=dict[str, tuple[PlainCheck, ...]]
)["check"]


@dataclass(frozen=True)
class Fix:
    rule: Rule
    named: PublishedRule
    edits: tuple[PlaybookEdit, ...]
    deeds: tuple[ShellCommands, ...]
    created: tuple[str, ...]
    """Files that did not exist on the run's host."""
    services: tuple[str, ...]
    checks: tuple[PlainCheck, ...]
    unasked: tuple[str, ...]
    notes: tuple[str, ...]
    """Earlier failures of this rule in the run, to watch for on other hosts."""

    @property
    def paths(self) -> tuple[str, ...]:
        beside = [path for deed in self.deeds for path in deed.paths]
        return tuple(dict.fromkeys([*(edit.path for edit in self.edits), *beside]))


@dataclass(frozen=True)
class ExcludedRule:
    rule: str
    why: str


@dataclass(frozen=True)
class PortableFixes:
    fixes: tuple[Fix, ...]
    left: tuple[ExcludedRule, ...]


def collect_portable_fixes(case: RunRecord) -> PortableFixes:
    found: list[Fix] = []
    left: list[ExcludedRule] = []
    for one in sorted(case.requested_rules, key=lambda one: one.item.started if one.item else 0.0):
        if why := _explain_exclusion(one):
            left.append(ExcludedRule(one.rule.id, why))
            continue
        try:
            found.append(_build_fix(one))
        except NotRecorded as exc:
            left.append(ExcludedRule(one.rule.id, f"it passed, but {exc}"))
    kept: list[Fix] = []
    for at, fix in enumerate(found):
        later = [edit for other in found[at + 1 :] for edit in other.edits]
        ends = [fold_later_edits_unless_undone(edit, later) for edit in fix.edits]
        if any(end is None and edit.do == "remove" for edit, end in zip(fix.edits, ends, strict=True)):
            left.append(ExcludedRule(fix.rule.id, "a later rule of the run put back a line that it took away"))
        else:
            kept.append(replace(fix, edits=tuple(end for end in ends if end)))
    return PortableFixes(tuple(kept), tuple(left))


def _explain_exclusion(rule_record: RuleRecord) -> str:
    """Return the reason that the rule has no fix to repeat; empty if it has one."""
    item = rule_record.item
    if item is None:
        held = rule_record.opening is not None and rule_record.opening.word == "pass"
        return "it held before the run" if held else "nothing was done"
    if item.status != "passed":
        return f"{item.status}: {clean_text(item.reason, _LONGEST)}"
    if rule_record.closing is not None and rule_record.closing.word != "pass":
        return f"at the end of the run the scanner said {rule_record.closing.word}"
    return "" if rule_record.tried and rule_record.tried[-1].attempt.applied else "nothing was changed"


def _build_fix(rule_record: RuleRecord) -> Fix:
    last = rule_record.tried[-1].attempt
    if last.proposed is None or last.applied is None:
        raise NotRecorded("the record does not hold the change")
    probes = last.probed.probes if last.probed else ()
    passed = {probe.name for probe in probes if probe.ok}  # one that failed there must not stop the script
    checkable = {check.probe for check in _CHECKS}
    told = list_services_to_reload((change.path for change in last.applied.changes), last.proposed.actions)
    failures = rule_record.item.failures if rule_record.item else ()
    notes = [f"try {failed.attempt} was taken back ({failed.cause}): {failed.reason}" for failed in failures]
    beside = [action for action in last.proposed.actions if isinstance(action, ResourceAction)]
    files = [action for action in last.proposed.actions if isinstance(action, FileAction)]
    return Fix(
        rule=rule_record.rule,
        named=rule_record.named,
        edits=() if beside else derive_edits(files, last.applied),
        deeds=tuple(one for action in beside for one in build_shell_commands(action, last.applied.changes)),
        created=tuple(change.path for change in last.applied.changes if change.before is None and not beside),
        services=told,
        checks=tuple(check for check in _CHECKS if check.probe in passed),
        unasked=tuple(probe.name for probe in probes if probe.name not in checkable),
        notes=tuple(clean_text(" ".join(note.split()), _LONGEST) for note in notes),
    )


def build_shell_commands(action: ResourceAction, changes: Iterable[FileChange]) -> Sequence[ShellCommands]:
    """Return the commands of each step of the action, or raise NotRecorded if another host cannot repeat it."""
    found = get_kind(action).build_commands(action, [change.path for change in changes])
    if isinstance(found, str):
        raise NotRecorded(found)
    return found
