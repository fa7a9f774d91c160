"""A pretend world for decide(): every effect comes out in some way that it may come out, chosen by `draw`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from app.events.approval_policy import PeopleNeeded
from app.events.architect_questions_about_host import MOST_QUESTIONS, AnsweredQuestion, AskVerdict
from app.events.event_field_types import Budget, Candidate, Mode, Probe, ProvenFix, SetOption, fingerprint_actions
from app.events.kinds import (
    ActionApplied,
    ActionApplying,
    ActionFailedToApply,
    ActionProposed,
    ActionRefused,
    ActionRolledBack,
    ActionRollingBack,
    ActionsAllowed,
    ApprovalEdited,
    ApprovalExpired,
    ApprovalGiven,
    ApprovalRefused,
    ApprovalRequested,
    AttemptFailed,
    AttemptReflected,
    AttemptStarted,
    CandidatesGathered,
    Event,
    FactsGathered,
    ItemDeferred,
    ItemEscalated,
    ItemPassed,
    ItemSkipped,
    ItemStarted,
    PlanMade,
    QuestionsAnswered,
    RebootAnnounced,
    RebootCompared,
    RebootLost,
    RebootReturned,
    RebootSkipped,
    RebootUndone,
    Rehearsed,
    RunFailed,
    RunFinished,
    RunQueued,
    RunScoped,
    RunStarted,
    RunStopped,
    ScanFinished,
    ScanStarted,
    SentryAlarm,
    SentryClear,
    SentryProbed,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
    VerdictExplained,
    VerdictGiven,
)
from app.events.record import GENESIS, Recorded, build_recorded_event
from app.loop.decide import decide_next_effect
from app.loop.effects import Ask, Done, Effect, Wait
from app.loop.perform import sort_findings_dependencies_first
from app.loop.reboot_decisions import describe_harm_after_reboot, list_fix_journals, list_fixed_rules
from app.loop.state import RunState, apply_event
from app.resources.vendor_script import RunVendorScript
from app.scanners.scanner import Verdict
from app.skills.skill import Rule, Skill

SOUND = (Probe("agent-login", True, "the agent can log in"),)
SHUT_OUT = (Probe("agent-login", False, "refused"),)
FIX = ProvenFix(
    id="r0.A.1",
    rule="A",
    host="other",
    run="r0",
    attempt=1,
    played=True,
    seen="s",
    changes=(),
    approach="",
    paths=("/etc/x",),
    steps=(),
    risk="",
    rollback="",
    validation="",
    actions=(SetOption(path="/etc/x", key="k", value="elsewhere"),),
    note="",
    fingerprint="elsewhere",
)
PROPOSED = (
    Candidate(source="a", actions=(SetOption(path="/etc/x", key="k", value="a"),)),
    Candidate(source="b", actions=(SetOption(path="/etc/x", key="k", value="b"),), refusal="no"),
    Candidate(source="c", actions=(SetOption(path="/etc/x", key="k", value="c"),)),
)
ENDINGS = {"passed": ItemPassed, "escalated": ItemEscalated, "skipped": ItemSkipped, "deferred": ItemDeferred}


def rule(name: str, *, depends: tuple[str, ...] = (), irreversible: bool = False, remedy: bool = False) -> Rule:
    return Rule(
        id=name,
        stig_id=name,
        category="II",
        title=name,
        requirement="",
        fix="",
        paths=("/etc/x",),
        check=lambda _: Verdict(name, "fail", ""),
        depends=depends,
        irreversible=irreversible,
        remedy=remedy,
    )


def pack(rules: Iterable[Rule]) -> Skill:
    return Skill("test", "test", {one.id: one for one in rules})


def request(skill: Skill, *, mode: Mode = "auto", budget: Budget | None = None, reboot: bool = False) -> RunQueued:
    return RunQueued(
        host="h",
        skill="test",
        rules=tuple(skill.rules),
        mode=mode,
        budget=budget or Budget(),
        lineup="l",
        simulated=True,
        reboot=reboot,
    )


@dataclass
class World:
    """Plays a run: decide names an effect, `draw(choices)` picks how it comes out, the events are folded."""

    skill: Skill
    draw: Callable[[str, list[str]], str]
    state: RunState = field(default_factory=RunState)
    log: list[Recorded] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    steps: list[tuple[Effect, list[Recorded]]] = field(default_factory=list)
    """Each effect with the events that it came out as: what story.py tells."""
    now: float = 1000.0
    tick: float = 1.0

    def put(self, *events: Event) -> None:
        for event in events:
            self.now += self.tick
            previous = self.log[-1].hash if self.log else GENESIS
            recorded = build_recorded_event("r", len(self.log) + 1, self.now, event, previous)
            self.log.append(recorded)
            self.state = apply_event(self.state, recorded)

    def play(self, limit: int = 5000) -> None:
        for _ in range(limit):
            effect = decide_next_effect(self.state, self.skill, self.now)
            self.effects.append(effect)
            if isinstance(effect, Done):
                return
            self.come_out(effect)
        raise AssertionError(f"no end after {limit} effects; the last: {self.effects[-3:]}")

    def come_out(self, effect: Effect) -> None:
        before = len(self.log)
        getattr(self, "_" + type(effect).__name__.lower())(effect)
        self.steps.append((effect, self.log[before:]))

    @property
    def _at(self) -> dict[str, object]:
        item = self.state.item
        assert item
        assert item.attempt
        return {"rule": item.rule, "attempt": item.attempt.number}

    def _start(self, _: Effect) -> None:
        disposable = self.state.request.reboot and self.draw("host", ["disposable", "depended on"]) == "disposable"
        self.put(RunStarted(worker="w", confinement="", scanner="s", probes=SOUND, disposable=disposable))

    def _scan(self, effect: Effect) -> None:
        words = [
            VerdictGiven(
                rule=name, phase=effect.phase, word=self.draw(effect.phase, ["fail", "pass"]), evidence="x", scanner="s"
            )
            for name in self.state.request.rules
        ]
        self.put(
            ScanStarted(phase=effect.phase, rules=len(words)), *words, ScanFinished(phase=effect.phase, seconds=0.1)
        )

    def _scope(self, _: Effect) -> None:
        words = {name: one.word for name, one in self.state.opening.items()}
        findings = sort_findings_dependencies_first(
            [name for name, word in words.items() if word == "fail"], self.skill
        )
        compliant = tuple(name for name, word in words.items() if word == "pass")
        self.put(RunScoped(order=findings, compliant=compliant, undecided=()))

    def _startitem(self, effect: Effect) -> None:
        self.put(ItemStarted(rule=effect.rule, title="", category="II"))

    def _startattempt(self, effect: Effect) -> None:
        offered = effect.number == 1 and self.draw("offered", ["no", "no", "yes"]) == "yes"
        fix = FIX if offered else None
        if effect.number == 1 and self.draw("gathered", ["no", "no", "yes"]) == "yes":
            self.put(CandidatesGathered(rule=effect.rule, candidates=PROPOSED))
        self.put(AttemptStarted(rule=effect.rule, attempt=effect.number, lessons=(), offered=fix, vendor=effect.vendor))

    def _ask(self, effect: Ask) -> None:
        turn = f"t{len(self.log)}"
        self.put(
            TurnStarted(
                turn=turn,
                **self._at,
                role=effect.role,
                purpose=effect.purpose,
                engine="gemma-31b",
                model="m",
                replica=0,
                max_tokens=10,
                prompt=("", ""),
            )
        )
        outcome = self.draw("turn", ["answered", "answered", "answered", "broken", "died", "crash"])
        if outcome == "crash":
            return
        end = TurnFinished(
            turn=turn,
            role=effect.role,
            purpose=effect.purpose,
            outcome=outcome,
            detail="",
            thought="",
            answer="",
            completion_tokens=5,
        )
        self.put(end, *(self._answer(effect) if outcome == "answered" else []))

    def _answer(self, effect: Ask) -> list[Event]:
        at = self._at
        match effect.purpose:
            case "plan":
                item = self.state.item
                if len(item.attempt.inquired) < MOST_QUESTIONS and self.draw("asks", ["no", "no", "yes"]) == "yes":
                    return [QuestionsAnswered(**at, answers=(AnsweredQuestion(question=AskVerdict(), answer="a"),))]
                if (numbers := [*item.usable_candidates_by_number]) and self.draw("takes", ["no", "yes"]) == "yes":
                    texts = dict.fromkeys(("approach", "risk", "rollback", "validation"), "")
                    return [PlanMade(**at, **texts, paths=("/etc/x",), steps=(), candidate=numbers[0])]
                return [PlanMade(**at, approach="", paths=("/etc/x",), steps=(), risk="", rollback="", validation="")]
            case "act":
                action = SetOption(path="/etc/x", key="k", value=str(at["attempt"]))
                mark = self.draw("approach", ["a", "b", "c", "d", "e"])
                return [ActionProposed(**at, actions=(action,), note="", fingerprint=mark, diff="")]
            case "review":
                veto = self.draw("veto", ["no", "no", "yes"]) == "yes"
                return [VerdictExplained(**at, explanation="", veto=veto, reason="gamed" if veto else "")]
            case "triage":
                if self.draw("sentry", ["clear", "clear", "alarm"]) == "clear":
                    return [SentryClear(**at, assessment="")]
                return [SentryAlarm(**at, reason="locked out", by="probe")]
            case _:
                decision = self.draw("decision", ["CONTINUE", "PIVOT", "ESCALATE"])
                banned = (self.state.item.attempt.proposed.fingerprint,) if self.state.item.attempt.proposed else ()
                return [AttemptReflected(**at, decision=decision, reason="", banned=banned)]

    def _usesafedefault(self, effect: Effect) -> None:
        at = self._at
        match effect.purpose:
            case "review":
                self.put(VerdictExplained(**at, explanation="", veto=False, reason=""))
            case "triage":
                self.put(SentryClear(**at, assessment=""))
            case _:
                self.put(AttemptReflected(**at, decision="CONTINUE", reason="", banned=()))

    def _closecrashedturn(self, effect: Effect) -> None:
        self.put(TurnInterrupted(turn=effect.turn, reason="crash"))

    def _judge(self, _: Effect) -> None:
        if self.draw("policy", ["allow", "allow", "refuse"]) == "allow":
            theirs = self.state.item.attempt.vendor
            needs = PeopleNeeded(people=1, why="", by="") if theirs else None
            self.put(ActionsAllowed(**self._at, needs=needs))
        else:
            self.put(ActionRefused(**self._at, action=None, clause="c", reason="r"))

    def _rehearse(self, _: Effect) -> None:
        self.put(Rehearsed(**self._at, word=self.draw("rehearsal", ["pass", "pass", "fail"]), evidence=""))

    def _requestapproval(self, _: Effect) -> None:
        self.put(ApprovalRequested(approval=f"a{len(self.log)}", **self._at, binds="", expires=self.now + 50))

    def _wait(self, effect: Wait) -> None:
        asked = self.state.subject_awaiting_approval.approval
        approval, edits = asked.approval, ["drift", "edit"] * (asked.about == "change")
        match self.draw("person", ["approve", "approve", "refuse", "nobody", *edits]):
            case "approve":
                self.put(ApprovalGiven(approval=approval, by="p", reason="", about=asked.about))
            case "refuse":
                self.put(ApprovalRefused(approval=approval, by="p", reason="no", about=asked.about))
            case "edit":
                actions = (SetOption(path="/etc/x", key="k", value=f"by hand {len(self.log)}"),)
                self.put(ApprovalEdited(approval=approval, by="p", reason="mine", actions=actions))
            case "drift":
                self.put(ApprovalExpired(approval=approval, reason="", drifted=True))
            case _:
                self.now = effect.until

    def _propose(self, _: Effect) -> None:
        edited = self.state.item.attempt.edited
        mark = f"by hand {len(self.log)}"
        self.put(ActionProposed(**self._at, actions=edited.actions, note="", fingerprint=mark, diff="", by=edited.by))

    def _repeat(self, _: Effect) -> None:
        plan = PlanMade(**self._at, approach="", paths=("/etc/x",), steps=(), risk="", rollback="", validation="")
        done = ActionProposed(
            **self._at, actions=FIX.actions, note="", fingerprint=FIX.fingerprint, diff="", replayed=FIX.id
        )
        self.put(plan, done)

    def _takecandidate(self, effect: Effect) -> None:
        one = self.state.item.candidates[effect.number - 1]
        mark = fingerprint_actions(one.actions)
        self.put(ActionProposed(**self._at, actions=one.actions, note="", fingerprint=mark, diff="", source=one.source))

    def _takevendors(self, _: Effect) -> None:
        plan = PlanMade(**self._at, approach="", paths=("vendor:A",), steps=(), risk="", rollback="", validation="")
        actions = (RunVendorScript(rule="A", sha256="0" * 64, script=""),)
        self.put(plan, ActionProposed(**self._at, actions=actions, note="", fingerprint="v", diff=""))

    def _expireapproval(self, _: Effect) -> None:
        self.put(ApprovalExpired(approval=self.state.subject_awaiting_approval.approval.approval, reason="late"))

    def _askforreboot(self, _: Effect) -> None:
        asked = {"rule": "", "attempt": 0, "about": "reboot"}
        self.put(ApprovalRequested(approval=f"a{len(self.log)}", **asked, binds="", expires=self.now + 50))

    def _skipreboot(self, effect: Effect) -> None:
        self.put(RebootSkipped(host="h", reason=effect.reason))

    def _reboot(self, _: Effect) -> None:
        snapshot = "before-reboot" if self.state.started.disposable else ""
        rules, journals = list_fixed_rules(self.state), list_fix_journals(self.state)
        where = {"host": "h", "boot": "b1", "until": self.now + 600, "snapshot": snapshot}
        self.put(RebootAnnounced(**where, rules=rules, journals=journals, undo_seconds=300))

    def _awaitreboot(self, _: Effect) -> None:
        well = {"host": "h", "boot": "b2", "seconds": 41.0, "probes": SOUND}
        match self.draw("reboot", ["back", "crash", "refused", "ill", "taken back", "lost"]):
            case "back":
                self.put(RebootReturned(**well))
            case "refused":
                self.put(RebootSkipped(host="h", reason="it refuses"))
            case "ill":
                self.put(RebootReturned(**well | {"probes": SHUT_OUT}))
            case "taken back":
                self.put(RebootReturned(**well, undone=True))
            case "lost":
                self.put(RebootLost(host="h", seconds=600, reason="silent", console=("Kernel panic",)))

    def _undorun(self, _: Effect) -> None:
        announced, outcome = self.state.reboot.announced, self.draw("undo", ["restored", "crash", "differs", "ill"])
        if outcome != "crash":
            self.put(
                RebootUndone(
                    host="h",
                    snapshot=announced.snapshot if self.state.reboot.lost else "",
                    rules=announced.rules,
                    paths=(),
                    differences=("/etc/x differs",) if outcome == "differs" else (),
                    probes=SHUT_OUT if outcome == "ill" else SOUND,
                    seconds=0.1,
                )
            )

    def _comparereboot(self, _: Effect) -> None:
        rules, harm = self.state.reboot.announced.rules, describe_harm_after_reboot(self.state)
        lost = tuple(rule for rule in rules if harm or self.state.closing[rule].word != "pass")
        self.put(RebootCompared(host="h", held=tuple(rule for rule in rules if rule not in lost), lost=lost))

    def _reopenitem(self, effect: Effect) -> None:
        self.put(ItemEscalated(rule=effect.rule, reason=effect.reason, reopened=True))

    def _apply(self, _: Effect) -> None:
        journal = f"j{len(self.log)}"
        self.put(ActionApplying(**self._at, journal=journal))
        approval = self.state.item.attempt.approval
        match self.draw("apply", ["done", "done", "failed", "crash", *["drift"] * (approval is not None)]):
            case "drift":
                self.put(ApprovalExpired(approval=approval.approval, reason="", drifted=True))
            case "done":
                self.put(ActionApplied(**self._at, journal=journal, diff="", changes=(), seconds=0.0))
            case "failed":
                self.put(ActionFailedToApply(**self._at, journal=journal, reason="no such line"))

    def _verify(self, _: Effect) -> None:
        word = self.draw("verdict", ["pass", "pass", "fail"])
        self.put(VerdictGiven(**self._at, phase="attempt", word=word, evidence="", scanner="s"))

    def _watch(self, _: Effect) -> None:
        self.put(SentryProbed(**self._at, probes=SOUND, drift=(), log=()))

    def _failattempt(self, effect: Effect) -> None:
        replayed = self.state.item.attempt.replayed_fix_id
        self.put(AttemptFailed(**self._at, cause=effect.cause, reason=effect.reason, replayed=replayed))

    def _gatherfacts(self, _: Effect) -> None:
        self.put(FactsGathered(**self._at, facts=()))

    def _rollback(self, effect: Effect) -> None:
        self.put(ActionRollingBack(**self._at, journal=effect.journal, cause=effect.cause))
        outcome = self.draw("rollback", ["restored"] * 8 + ["crash", "differs"])
        if outcome != "crash":
            differences = ("/etc/x differs",) if outcome == "differs" else ()
            self.put(
                ActionRolledBack(
                    **self._at, journal=effect.journal, paths=(), differences=differences, probes=SOUND, seconds=0.0
                )
            )

    def _closeitem(self, effect: Effect) -> None:
        more = {"attempts": 1} if effect.outcome == "passed" else {"reason": effect.reason}
        self.put(ENDINGS[effect.outcome](rule=effect.rule, **more))

    def _finish(self, _: Effect) -> None:
        self.put(RunFinished(passed=0, escalated=0, skipped=0, deferred=0, regressions=(), tree=""))

    def _stop(self, _: Effect) -> None:
        self.put(RunStopped(by="p", reason="", tree=""))

    def _halt(self, effect: Effect) -> None:
        self.put(RunFailed(reason=effect.reason))
