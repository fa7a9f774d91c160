"""Approvals, with the loop's own decide and perform over a host in memory: nothing runs that was not approved as it is.

A person approves, refuses, edits or is late; somebody else changes the host; the worker dies between any two effects.
"""

import asyncio
import hashlib
import random
from contextlib import nullcontext

import msgspec

from app.errors import HostDrifted
from app.events.approval_policy import ApprovalPolicy, ApprovalRule
from app.events.event_field_types import Budget, FileChange, Probe, SetOption
from app.events.kinds import (
    ActionApplying,
    ActionProposed,
    ApprovalGiven,
    ApprovalRefused,
    ApprovalRequested,
    PlanMade,
    TurnFinished,
    TurnStarted,
)
from app.events.log_writer import RunLog
from app.events.record import GENESIS
from app.loop.decide import decide_next_effect
from app.loop.effects import Apply, Ask, Done, Wait
from app.loop.inbox import Command, find_event_for_command
from app.loop.perform import perform_effect
from app.loop.run_in_progress import Run, RunServices
from app.loop.state import fold_events
from app.scanners.scanner import Verdict
from app.targets.change_assessment import Assessment
from app.targets.planned_effects_of_actions import ChangePlan, ProposedChange
from app.targets.rebooter_protocol import RollbackResult
from app.targets.resources.resource_dry_run import NONE
from app.targets.running_settings_report import InForceReport
from app.targets.target import AppliedChange
from app.targets.target_thread import TargetThread
from tests.loop.playing import pack, request, rule
from tests.thorough import examples

SKILL = pack([rule("A"), rule("B", irreversible=True)])
INTERLEAVINGS = examples(100, 4500)
EDIT = msgspec.json.encode(
    {"actions": [{"kind": "set_option", "path": "/etc/x", "key": "k", "value": "mine"}], "note": ""}
)


TWO = ApprovalPolicy(
    file="approvals.toml",
    sha256="f" * 64,
    rules=(ApprovalRule(line=3, people=2, category=("I", "II", "III"), irreversible=False),),
    otherwise=1,
    line=1,
)
WHO = (("ada", "session"), ("ada", "token"), ("Ada", "token"), ("bob", "session"), ("root", "terminal"))
"""Two people, who come in five ways."""


class Host:
    """One value in one file. It notes what it was changed to, and from what."""

    name, simulated, confinement = "h", True, ""

    def __init__(self):
        self.value = "weak"
        self.before = {}
        self.changes = []

    @property
    def files(self):
        return self

    def prepare(self, **_terms):
        pass

    def cache_reads(self):
        return nullcontext()

    def read_facts(self):
        return {}

    def glob(self, _pattern):
        return []

    def state(self, _path):
        return None

    def assess_actions(self, actions, allowed, asks, scope):
        diff = f"-{self.value}\n+{actions[0].value}"
        return Assessment(
            ProposedChange(actions, allowed, asks, scope), NONE, ChangePlan((), {}, {}, ""), diff, (), (), ""
        )

    def apply(self, journal, actions, allowed, asks, seen, scope):
        diff = self.assess_actions(actions, allowed, asks, scope).diff
        if seen.approved and diff != seen.diff:
            raise HostDrifted
        self.changes.append((journal, diff))
        self.before[journal], self.value = self.value, actions[0].value
        return AppliedChange(diff, (), 0.0)

    def roll_back(self, journal):
        self.value = self.before.pop(journal, self.value)
        return RollbackResult((), (), 0.0)

    def commit(self, journal, *, keep_images):
        self.before.pop(journal, None)

    def list_pending(self):
        return list(self.before)

    def check_health(self):
        return (Probe("agent-login", True, ""),)

    def describe_drift(self, _: tuple[FileChange, ...]):
        return ()

    def check_in_force(self):
        return InForceReport()

    def read_log_lines(self, _limit):
        return []

    def compute_digest(self):
        return self.value


class Scanner:
    name = "s"

    async def scan(self, host, rules, _judged=None):
        return [Verdict(one, "fail" if host.value.startswith("weak") else "pass", "") for one in rules]

    async def scan_rehearsal_if_supported(self, _files, rules):
        return [Verdict(one, "pass", "") for one in rules]


class Kept:
    """The writer of a log that outlives every worker."""

    lost = frozenset()

    def __init__(self):
        self.lines, self._came = [], asyncio.Event()

    def enqueue_batch(self, batch):
        self.lines += batch
        self._came.set()

    async def until(self, *kinds, count):
        """So many of these have come."""
        while sum(isinstance(one.event, kinds) for one in self.lines) < count:
            self._came.clear()
            await self._came.wait()

    async def flush(self):
        pass


class Life:
    def __init__(self, seed, approvals=None):
        self.dice = random.Random(seed)
        self.now = 1000.0
        self.host, self.kept, self.asked = Host(), Kept(), 0
        self.means = RunServices(
            skill=SKILL,
            target=TargetThread(self.host),
            scanner=Scanner(),
            seats={},
            worker="w",
            clock=lambda: self.now,
            approvals=approvals,
        )
        self.born()
        self.run.append(request(SKILL, mode="review", budget=Budget(attempts=3, approval_seconds=60)))

    def born(self):
        """A worker that knows nothing but the log."""
        last = (self.kept.lines[-1].seq, self.kept.lines[-1].hash) if self.kept.lines else (0, GENESIS)
        log = RunLog("r", self.kept, last, clock=lambda: self.now)
        self.run = Run(fold_events(self.kept.lines), log, self.means)

    async def live(self):
        for _ in range(400):
            self.now += self.dice.choice([0.1, 1, 5])
            effect = decide_next_effect(self.run.state, SKILL, self.now)
            if isinstance(effect, Done):
                return
            if self.dice.random() < 0.1:
                self.born()
                continue
            if self.dice.random() < 0.1 and not self.host.before:
                self.host.value = f"weak {self.dice.random()}"
            match effect:
                case Ask():
                    self.answer(effect)
                case Wait():
                    self.person(effect)
                case Apply() if self.dice.random() < 0.1:
                    await perform_effect(self.run, effect)
                    self.cut_after("action.applying")
                case _:
                    await perform_effect(self.run, effect)
        raise AssertionError("no end")

    def cut_after(self, kind):
        """The worker died in mid-change: what it had not written is not there."""
        while self.kept.lines and self.kept.lines[-1].event.__struct_config__.tag == "action.applied":
            self.kept.lines.pop()
        self.born()

    def person(self, effect):
        """A word about the approval in hand, or one about an approval of before; now, or when it is too late."""
        approvals = [one.event for one in self.kept.lines if isinstance(one.event, ApprovalRequested)]
        two = self.means.approvals is not None  # who mostly agree, or they would seldom come to it
        verb = self.dice.choice(["approve", "approve", "refuse", "edit", "nothing", *["approve"] * 9 * two])
        self.now += self.dice.choice([0, 5, 10, 61] if two else [0, 10, 59, 60, 61])
        if verb == "nothing" or not approvals:
            self.now = max(self.now, effect.until)
            return
        about = self.dice.choice([approvals[-1], approvals[-1], approvals[-1], self.dice.choice(approvals)])
        actions, who = EDIT.decode() if verb == "edit" else "", self.dice.choice(WHO)
        command = Command(1, verb, who[0], "because", about.approval, actions, who[1])
        if event := find_event_for_command(command, self.run.state, self.now):
            self.run.append(event)

    def answer(self, effect):
        self.asked += 1
        rule_id, number = self.run.rule_and_attempt_number
        turn = f"t{self.asked}"
        at = {"rule": rule_id, "attempt": number}
        self.run.append(
            TurnStarted(
                turn=turn, **at, role=effect.role, purpose=effect.purpose, engine="e", model="m",
                replica=0, max_tokens=1, prompt=("", ""),
            )
        )  # fmt: skip
        outcome = "answered" if effect.purpose in ("plan", "act") else "broken"
        finished = TurnFinished(
            turn=turn, role=effect.role, purpose=effect.purpose, outcome=outcome, detail="",
            thought="", answer="", completion_tokens=1,
        )  # fmt: skip
        self.run.append(finished, *self.meant(effect, at))

    def meant(self, effect, at):
        if effect.purpose == "plan":
            return [PlanMade(**at, approach="", paths=("/etc/x",), steps=(), risk="", rollback="", validation="")]
        if effect.purpose == "act":
            value = self.dice.choice(["strong", "weak still", f"strong {self.asked}"])
            actions = (SetOption(path="/etc/x", key="k", value=value),)
            return [ActionProposed(**at, actions=actions, note="", fingerprint=f"f{self.asked}", diff="")]
        return []


def binding(plan, diff):
    return hashlib.sha256(b"\0".join([b"h", msgspec.json.encode(plan), diff.encode()])).hexdigest()


async def test_nothing_runs_that_was_not_approved_as_it_is_under_hundreds_of_interleavings():
    seen = {"changed": 0, "refused": 0, "given": 0}
    for seed in range(INTERLEAVINGS):
        life = Life(seed)
        await life.live()
        given = check(life)
        seen["changed"] += len(life.host.changes)
        seen["given"] += given
        seen["refused"] += sum(isinstance(one.event, ApprovalRefused) for one in life.kept.lines)
        assert life.host.list_pending() == []
    assert min(seen["changed"], seen["given"], seen["refused"]) > INTERLEAVINGS / 10, seen


def check(life):
    """Walk the log beside what the host saw: every change has its approval, in time, for exactly that change."""
    asked, given, plan, changes = {}, {}, None, list(life.host.changes)
    for recorded in life.kept.lines:
        match recorded.event:
            case PlanMade() as event:
                plan = event
            case ApprovalRequested() as event:
                asked[event.approval] = (event, plan)
            case ApprovalGiven() as event:
                assert recorded.at < asked[event.approval][0].expires, "an approval that came too late"
                given[asked[event.approval][0].binds] = event
            case _:
                pass
    for _journal, diff in changes:
        bound = [binding(plan, diff) for _event, plan in asked.values()]
        assert any(one in given for one in bound), f"{diff!r} ran without an approval for it"
    return len(given)


async def test_where_two_people_are_asked_no_life_gets_by_with_one():
    """However one person comes, by whichever name, session or token; and each yes stands in the log with its number."""
    made = {1: 0, 2: 0}
    for seed in range(100):
        life = Life(seed, TWO)
        await life.live()
        asked = None
        for one in life.kept.lines:
            match one.event:
                case ApprovalRequested():
                    asked, yeses = one.event, []
                case ApprovalGiven():
                    yeses.append(one.event)
                    assert (one.event.given, one.event.of) == (len(yeses), asked.needs.people)
                case ActionApplying():
                    assert len({yes.by.casefold() for yes in yeses}) == asked.needs.people
                    assert asked.needs.people == 1 or {yes.via for yes in yeses} <= {"session", "token"}
                    made[asked.needs.people] += 1
                case _:
                    pass
    assert min(made.values()) > 10, made
