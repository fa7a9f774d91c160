"""Selects the fixes of a run that can be repeated on other hosts, and explains the others."""

from dataclasses import dataclass, replace

from app.events.kinds import AttemptFailed
from app.events.words import FileAction, PublishedRule, ResourceAction
from app.evidence.case import Case, Judged
from app.evidence.playbook.checks import PlainCheck, asked, unasked
from app.evidence.playbook.deeds import ShellDeed, deed
from app.evidence.playbook.edits import FileEdit, NotSaid, edits, settled
from app.skills.skill import Rule
from app.targets.ssh.danger import services
from app.text.clean import clean

_LONGEST = 300


@dataclass(frozen=True)
class Fix:
    rule: Rule
    named: PublishedRule
    edits: tuple[FileEdit, ...]
    deeds: tuple[ShellDeed, ...]
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
class LeftOut:
    rule: str
    why: str


@dataclass(frozen=True)
class Takeaway:
    fixes: tuple[Fix, ...]
    left: tuple[LeftOut, ...]


def takeaway(case: Case) -> Takeaway:
    found: list[Fix] = []
    left: list[LeftOut] = []
    for one in sorted(case.asked, key=lambda one: one.item.started if one.item else 0.0):
        if why := _open(one):
            left.append(LeftOut(one.rule.id, why))
            continue
        try:
            found.append(_fix(one))
        except NotSaid as exc:
            left.append(LeftOut(one.rule.id, f"it passed, but {exc}"))
    kept: list[Fix] = []
    for at, fix in enumerate(found):
        later = [edit for other in found[at + 1 :] for edit in other.edits]
        ends = [settled(edit, later) for edit in fix.edits]
        if any(end is None and edit.do == "remove" for edit, end in zip(fix.edits, ends, strict=True)):
            left.append(LeftOut(fix.rule.id, "a later rule of the run put back a line that it took away"))
        else:
            kept.append(replace(fix, edits=tuple(end for end in ends if end)))
    return Takeaway(tuple(kept), tuple(left))


def _open(one: Judged) -> str:
    """Return the reason that the rule has no fix to repeat; empty if it has one."""
    item = one.item
    if item is None:
        held = one.opening is not None and one.opening.word == "pass"
        return "it held before the run" if held else "nothing was done"
    if item.status != "passed":
        return f"{item.status}: {clean(item.reason, _LONGEST)}"
    if one.closing is not None and one.closing.word != "pass":
        return f"at the end of the run the scanner said {one.closing.word}"
    return "" if one.tried and one.tried[-1].attempt.applied else "nothing was changed"


def _fix(one: Judged) -> Fix:
    last = one.tried[-1].attempt
    if last.proposed is None or last.applied is None:
        raise NotSaid("the record does not hold the change")
    probes = last.probed.probes if last.probed else ()
    told = services((change.path for change in last.applied.changes), last.proposed.actions)
    notes = [f"try {failed.attempt} was taken back ({failed.cause}): {failed.reason}" for failed in _failures(one)]
    beside = [action for action in last.proposed.actions if isinstance(action, ResourceAction)]
    files = [action for action in last.proposed.actions if isinstance(action, FileAction)]
    return Fix(
        rule=one.rule,
        named=one.named,
        edits=() if beside else edits(files, last.applied),
        deeds=tuple(deed(one, last.applied.changes) for one in beside),
        created=tuple(change.path for change in last.applied.changes if change.before is None and not beside),
        services=told,
        checks=asked(probes),
        unasked=unasked(probes),
        notes=tuple(clean(" ".join(note.split()), _LONGEST) for note in notes),
    )


def _failures(one: Judged) -> tuple[AttemptFailed, ...]:
    return one.item.failures if one.item else ()
