"""The inbox read from a real log: what a run leaves, and what settles it."""

import pytest
from msgspec.structs import replace
from sqlmodel import Session

from app.events.event_field_types import Budget
from app.events.kinds import (
    ActionRolledBack,
    ApprovalGiven,
    ApprovalRefused,
    ItemDeferred,
    ItemEscalated,
    ItemPassed,
    ItemStarted,
    RolloutPaused,
    RunFailed,
    RunFinished,
    RunPaused,
    RunQueued,
    VerdictGiven,
)
from app.loop.state import fold_events
from app.runs.open_decision_reader import DecisionReader
from app.store.host_rule_states import delete_host_standings_and_memberships
from app.store.rollouts import open_rollout_journal
from app.store.waivers import WaiverRow
from tests.background.rollouts.test_rollout_controller import Place
from tests.runs.doors import house
from tests.runs.test_approval_answer import QUEUED, STARTED, UNTIL_IT_WAITS, WAITING, asks

ENDED = RunFinished(passed=0, escalated=0, skipped=0, deferred=0, regressions=(), tree="")
STIG = ("V-257989", "V-258106", "V-258055")


@pytest.fixture
async def doors(tmp_path):
    async with house(tmp_path / "data") as made:
        made.inbox = DecisionReader(made.database, lambda run: fold_events(made.store.read_events(run)), made.clock.now)
        made.left = lambda: {one.id: [found.rule for found in one.findings] for one in made.inbox.list_decisions()}
        yield made


def begin(doors, run, *rules, host="web1"):
    request = RunQueued(
        host=host, skill="stig", rules=rules, mode="auto", budget=Budget(), lineup="simulated", simulated=True
    )
    fails = [VerdictGiven(rule=rule, phase="opening", word="fail", evidence="", scanner="s") for rule in rules]
    doors.append(run, request, STARTED, *fails)


def back(rule):
    return ActionRolledBack(rule=rule, attempt=1, journal="j", paths=(), differences=(), probes=(), seconds=0.1)


async def test_a_finding_waits_from_the_end_of_its_run_until_it_passes_or_has_a_waiver(doors):
    begin(doors, "r1", *STIG)
    doors.append("r1", *(ItemStarted(rule=rule, title="", category="I") for rule in STIG), back(STIG[2]))
    doors.append("r1", ItemEscalated(rule=STIG[0], reason="by hand"), ItemEscalated(rule=STIG[1], reason="no"))
    doors.append("r1", ItemDeferred(rule=STIG[2], reason="nobody answered"))
    assert doors.left() == {}, "the run is still at work on its rules"
    doors.append("r1", ENDED)
    assert doors.left() == {"escalated:web1:stig": [*STIG[:2]], "deferred:web1:stig": [STIG[2]]}
    (first, _) = doors.inbox.list_decisions()
    assert (first.findings[0].reason, first.findings[0].category, first.run) == ("by hand", "I", "r1")
    assert first.findings[0].title.startswith("The SSH server offers FIPS ciphers")

    begin(doors, "r2", STIG[0])
    assert doors.left()["escalated:web1:stig"] == [STIG[1]], "a run of one rule leaves the others waiting"
    doors.append(
        "r2", ItemStarted(rule=STIG[0], title="", category="I"), ItemPassed(rule=STIG[0], attempts=1), ENDED, at=1001.0
    )
    assert doors.left()["escalated:web1:stig"] == [STIG[1]]

    words = {"scope_kind": "host", "scope_name": "web1", "owner": "o", "reason": "r", "ticket": "", "by": "ada"}
    with Session(doors.database) as session, session.begin():
        session.add(WaiverRow(id="w1", rule=STIG[1], until="2999-01-01", made_at=1.0, **words))
    assert doors.left() == {"deferred:web1:stig": [STIG[2]]}
    with Session(doors.database) as session, session.begin():
        delete_host_standings_and_memberships(session, "web1")
    assert doors.left() == {}


async def test_a_scan_that_finds_the_same_settles_nothing(doors):
    begin(doors, "r1", STIG[0])
    doors.append(
        "r1", ItemStarted(rule=STIG[0], title="", category="I"), ItemEscalated(rule=STIG[0], reason="x"), ENDED
    )
    begin(doors, "r2", STIG[0])
    doors.append("r2", ENDED)
    assert doors.left() == {"escalated:web1:stig": [STIG[0]]}


@pytest.mark.parametrize(
    "answer",
    [
        ApprovalGiven(approval=WAITING, by="ada", reason=""),
        ApprovalRefused(approval=WAITING, by="ada", reason="no"),
        RunFailed(reason="gone"),
    ],
)
async def test_an_approval_waits_until_it_is_answered_or_the_run_ends(doors, answer):
    doors.append("r1", QUEUED, *UNTIL_IT_WAITS)
    assert doors.inbox.list_decisions() == []
    doors.append("r1", asks())
    (one,) = doors.inbox.list_decisions()
    assert (one.kind, one.id) == ("approval", f"approval:{WAITING}")
    assert doors.inbox.find_decision(one.id) == one
    assert doors.inbox.find_decision("approval:other") is None
    doors.append("r1", answer)
    assert [one for one in doors.inbox.list_decisions() if one.kind == "approval"] == []
    assert doors.inbox.last_count == (1 if isinstance(answer, RunFailed) else 0), "a failed run is its host's decision"


async def test_an_approval_of_rules_that_are_no_longer_here_waits_as_well(doors):
    doors.append("r1", replace(QUEUED, skill="gone"), *UNTIL_IT_WAITS, asks())
    (one,) = doors.inbox.list_decisions()
    assert (one.kind, one.id) == ("approval", f"approval:{WAITING}")


async def test_a_paused_run_and_a_host_whose_run_failed_wait(doors):
    begin(doors, "r1", STIG[0])
    doors.append("r1", RunPaused(by="ada"), at=2000.0)
    begin(doors, "r2", STIG[0], host="web2")
    doors.append("r2", RunFailed(reason="no route to it"), at=3000.0)
    paused, failed = sorted(doors.inbox.list_decisions(), key=lambda one: one.since)
    assert (paused.id, paused.since, paused.why) == (
        "run:r1", 2000.0, "Run r1 on web1 is paused by ada: it goes on when you resume it.",
    )  # fmt: skip
    assert (failed.id, failed.why) == ("host:r2", "web2: the last run failed: no route to it")
    begin(doors, "r3", STIG[0], host="web2")
    assert [one.id for one in doors.inbox.list_decisions()] == ["run:r1"]


def test_a_paused_rollout_waits_since_it_was_paused(tmp_path):
    place = Place(tmp_path)
    place.ask(2)
    inbox = DecisionReader(place.database, lambda run: fold_events(place.store.read_events(run)), lambda: 1e9)
    assert inbox.list_decisions() == []
    with open_rollout_journal(place.database, "o1") as chain:
        chain.append(RolloutPaused(by="rule", reason="1 host is harmed"))
    (one,) = inbox.list_decisions()
    assert (one.id, one.why, one.risk) == ("rollout:o1", "Rollout o1 is paused: 1 host is harmed", "high")
    place.database.dispose()
