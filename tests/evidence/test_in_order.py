"""The script's own walk over a log: what ran, ran with leave. Held against a hundred lives of the loop itself."""

import asyncio
import itertools
import json
from functools import cache

import pytest
from msgspec.structs import replace

from app.events.kinds import RunStarted
from app.evidence.verify import BrokenPack, _check_change_approvals, _check_reboot_approval
from tests.evidence.logs import chain
from tests.loop.test_approvals import TWO, Life
from tests.runs.rebooting import ASKED, TO_THE_END, UNTIL_IT_ASKS, YES

LIVES = 100
RULES = {"rules.json": json.dumps([{"id": "A", "irreversible": False}, {"id": "B", "irreversible": True}]).encode()}


@cache
def lived(seed, approvals=None):
    life = Life(seed, approvals)
    asyncio.run(life.live())
    return [(one.line, json.loads(one.line)) for one in life.kept.lines]


def test_every_life_of_the_loop_holds():
    applied = drifted = 0
    for seed in range(LIVES):
        events = lived(seed)
        _check_change_approvals(RULES, events)
        kinds = [event["kind"] for _, event in events]
        applied += kinds.count("action.applied")
        drifted += ("action.applying", "approval.expired") in itertools.pairwise(kinds)
    assert applied > LIVES / 5
    assert drifted > LIVES / 50, "no host that drifted was found out under the lock"


def test_without_its_leave_and_its_approval_no_change_holds():
    taken = {"action.allowed": 0, "approval.given": 0}
    for seed in range(LIVES):
        events = lived(seed)
        for kind in taken:
            less = [one for one in events if one[1]["kind"] != kind]
            if any(event["kind"] == "action.applying" for _, event in events):
                with pytest.raises(BrokenPack, match="without the"):
                    _check_change_approvals(RULES, less)
                taken[kind] += 1
    assert min(taken.values()) > LIVES / 5


def test_of_two_people_neither_can_be_left_out_or_made_one_and_the_rules_file_says_how_many():
    found = dict.fromkeys(("one less", "one twice", "at the terminal", "needs one", "another file"), 0)
    found |= {"a token of the first's": 0, "a token of the asker's": 0}
    for seed in range(LIVES):
        events = lived(seed, TWO)
        _check_change_approvals(RULES, events)
        second = [
            at for at, (_, event) in enumerate(events) if event["kind"] == "approval.given" and event["given"] == 2
        ]
        followed = [at for at in second if events[at + 1][1]["kind"] == "action.applying"]
        for at in followed[:1]:
            line = events[at][0]
            first = next(one for _, one in reversed(events[:at]) if one["kind"] == "approval.given")
            allowed = max(n for n, (_, one) in enumerate(events[:at]) if one["kind"] == "action.allowed")
            needs = events[allowed][1]["needs"]
            for name, where, other in (
                ("one less", at, None),
                ("one twice", at, {"by": first["by"].upper()}),
                ("at the terminal", at, {"via": "terminal"}),
                ("a token of the first's", at, {"made_by": [first["by"].upper()]}),
                ("needs one", allowed, {"needs": {**needs, "people": 1}}),
                ("another file", allowed, {"needs": {**needs, "sha256": "0" * 64}}),
            ):
                changed = [] if other is None else [(line, {**events[where][1], **other})]
                with pytest.raises(BrokenPack, match=r"without the approval|asks for other people"):
                    _check_change_approvals(RULES, [*events[:where], *changed, *events[where + 1 :]])
                found[name] += 1
            lent = [(events[0][0], {**events[0][1], "by": "Eve"}), *events[1:]]
            _check_change_approvals(RULES, lent)
            lent[at] = (line, {**events[at][1], "made_by": ["eve"]})
            with pytest.raises(BrokenPack, match="without the approval"):
                _check_change_approvals(RULES, lent)
            found["a token of the asker's"] += 1
    assert min(found.values()) > 3, found


def test_an_approval_for_another_diff_does_not_hold():
    changed = 0
    for seed in range(LIVES):
        events = lived(seed)
        for at, (line, event) in enumerate(events):
            if event["kind"] == "approval.requested":
                other = [*events[:at], (line, {**event, "diff": "+another"}), *events[at + 1 :]]
                with pytest.raises(BrokenPack, match="bound to another host, plan or diff"):
                    _check_change_approvals(RULES, other)
                changed += 1
                break
    assert changed > LIVES / 2


def test_a_repetition_has_to_be_of_what_was_offered():
    start = {"kind": "attempt.started", "seq": 2, "offered": {"id": "r1.A.1", "actions": [{"do": "chmod"}]}}
    proposed = {"kind": "action.proposed", "seq": 3, "replayed": "r1.A.1", "actions": [{"do": "chmod"}]}
    begun = {"kind": "run.queued", "seq": 1, "host": "h", "mode": "auto"}
    _check_change_approvals(RULES, [(b"", event) for event in (begun, start, proposed)])
    for changed in ({"actions": [{"do": "reload"}]}, {"replayed": "r2.A.1"}):
        with pytest.raises(BrokenPack, match=r"event 3 says that it repeats .*, and proposes something else"):
            _check_change_approvals(RULES, [(b"", event) for event in (begun, start, proposed | changed)])
    with pytest.raises(BrokenPack, match="proposes something else"):
        _check_change_approvals(RULES, [(b"", event) for event in (begun, start | {"offered": None}, proposed)])


def logged(*events):
    return [(one.line, json.loads(one.line)) for one in chain(events)]


def test_no_host_is_rebooted_without_the_approval_of_exactly_that():
    whole = (*UNTIL_IT_ASKS, *TO_THE_END)
    _check_reboot_approval(logged(*whole))
    free = [replace(one, disposable=True) if isinstance(one, RunStarted) else one for one in whole]
    _check_reboot_approval(logged(*(one for one in free if one not in (ASKED, YES))))
    with pytest.raises(BrokenPack, match="reboots the host without the approval"):
        _check_reboot_approval(logged(*(one for one in whole if one != YES)))
    with pytest.raises(BrokenPack, match="reboots the host without the approval"):
        _check_reboot_approval(logged(*(one for one in whole if one != ASKED)))
    lent = replace(YES, made_by=("ada",))  # who ordered the run
    with pytest.raises(BrokenPack, match="reboots the host without the approval"):
        _check_reboot_approval(logged(*(lent if one == YES else one for one in whole)))
    with pytest.raises(BrokenPack, match="bound to another reboot"):
        _check_reboot_approval(logged(*(replace(one, diff="x") if one == ASKED else one for one in whole)))


def test_a_change_that_cannot_be_undone_needs_a_person_although_its_rule_can_be():
    line, queued = lived(0)[0]
    journal = {"kind": "action.applying", "seq": 3, "rule": "A", "journal": "j"}

    def check(people, irreversible):
        needs = {"people": people, "by": "Temper's own rule", "risk": {"irreversible": irreversible}}
        allowed = {"kind": "action.allowed", "seq": 2, "needs": needs}
        _check_change_approvals(RULES, [(line, {**queued, "mode": "auto"}), (line, allowed), (line, journal)])

    check(0, irreversible=False)
    for people in (0, 1):
        with pytest.raises(BrokenPack, match="without the approval that it needs"):
            check(people, irreversible=True)
