"""Performs effects. An effect on the host is recorded on disk before it starts, and closed afterwards."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from app import __version__
from app.errors import Unusable
from app.events.kinds import (
    AttemptFailed,
    AttemptStarted,
    DriftFound,
    Event,
    ItemDeferred,
    ItemEscalated,
    ItemSkipped,
    ItemStarted,
    RunFailed,
    RunFinished,
    RunScoped,
    RunStarted,
    RunStopped,
    ScanFinished,
    ScanStarted,
    TurnInterrupted,
)
from app.events.words import Lesson, Probe, ProvenFix
from app.loop import change, effects, force, replaying
from app.loop.ask import ask, do_without, propose, repeat, take_vendors
from app.loop.effects import Effect
from app.loop.order import in_order
from app.loop.run import Run
from app.loop.state import RunState
from app.loop.waived import of_skill
from app.skills import rulebook
from app.skills.published import published
from app.targets.running import InForce
from app.targets.target import Target

LESSONS_TOLD = 4


async def perform(run: Run, effect: Effect) -> None:
    await _DO[type(effect)](run, effect)


async def _start(run: Run, _: effects.Start) -> None:
    target, request = run.means.target, run.state.request
    assert request
    changes = request.mode not in ("scan", "dry-run")

    def prepared(target: Target) -> tuple[str, tuple[Probe, ...], InForce]:
        target.prepare(changes=changes, consent=request.consent, keep=request.keep)
        return target.confinement, target.health(), target.running()

    confinement, probes, standing = await target.do(prepared)
    named = await asyncio.to_thread(published, run.means.skill)
    waivers = await asyncio.to_thread(run.means.waivers.on, request.host, run.means.clock())
    run.append(
        RunStarted(
            worker=run.means.worker,
            confinement=confinement,
            scanner=run.means.scanner.name,
            probes=change.well(probes),
            temper=__version__,
            seats=tuple(seat.taken() for seat in run.means.seats.values()),
            simulated=target.simulated,
            rulebook=rulebook.digest(run.means.skill),
            published=named,
            waivers=of_skill(waivers, run.means.skill, named),
            tailored=run.means.skill.tailored,
            parameters=run.means.skill.used,
            approvals=run.means.approvals,
        ),
        *force.told(standing),
    )


async def _scan(run: Run, effect: effects.Scan) -> None:
    assert run.state.request
    rules = run.state.request.rules
    run.append(ScanStarted(phase=effect.phase, rules=len(rules)))
    began = time.monotonic()
    verdicts = await run.means.scanner.scan(await run.means.target.do(lambda target: target.files), rules)
    given = [change.given(run, verdict, effect.phase) for verdict in verdicts]
    run.append(*given, ScanFinished(phase=effect.phase, seconds=round(time.monotonic() - began, 3)))
    said = {(verdict.word, verdict.evidence) for verdict in verdicts}
    if effect.phase == "opening" and len(said) == 1 and verdicts[0].word == "error":
        raise Unusable(f"Nothing could be judged, so nothing is begun: {verdicts[0].evidence}")


async def _scope(run: Run, _: effects.Scope) -> None:
    words = {rule: verdict.word for rule, verdict in run.state.opening.items()}
    findings = [rule for rule, word in words.items() if word == "fail"]
    drift = await _drift(run, findings)
    run.append(
        *drift,
        RunScoped(
            order=in_order(findings, run.means.skill),
            compliant=tuple(rule for rule, word in words.items() if word == "pass"),
            undecided=tuple(rule for rule, word in words.items() if word not in ("pass", "fail")),
        ),
    )


async def _drift(run: Run, findings: Sequence[str]) -> list[DriftFound]:
    """Return drift since the last run; a freshly reset simulated host has none."""
    assert run.state.request
    if run.means.target.simulated and not run.state.request.keep:
        return []
    since, held = await asyncio.to_thread(run.means.before.passed)
    slipped = tuple(rule for rule in findings if rule in held)
    return [DriftFound(rules=slipped, since=since)] if slipped else []


async def _start_item(run: Run, effect: effects.StartItem) -> None:
    rule = run.means.skill.rules[effect.rule]
    run.append(ItemStarted(rule=rule.id, title=rule.title, category=rule.category))


async def _start_attempt(run: Run, effect: effects.StartAttempt) -> None:
    assert run.state.item
    own = run.state.item.lessons
    known = await asyncio.to_thread(run.means.lessons.known, effect.rule)
    seen, offered = await _offered(run, effect)
    run.append(
        AttemptStarted(
            rule=effect.rule,
            attempt=effect.number,
            lessons=_told(own, known),
            seen=seen,
            offered=offered,
            vendor=effect.vendor,
        )
    )


async def _offered(run: Run, effect: effects.StartAttempt) -> tuple[str, ProvenFix | None]:
    """Return the digest of the rule's files and, on the first attempt, a fix proven on equal files."""
    started, request, target = run.state.started, run.state.request, run.means.target
    assert started
    assert request
    seen = await target.do(lambda target: replaying.seen(run.rule, target.files, started.rulebook))
    if not (seen and request.replay_fixes and effect.number == 1):
        return seen, None
    known = await asyncio.to_thread(run.means.fixes.known, effect.rule, seen, played=target.simulated)
    return seen, await target.do(lambda target: replaying.equal(target.files, known)) if known else None


def _told(own: Sequence[Lesson], known: Sequence[Lesson]) -> tuple[Lesson, ...]:
    """Merge this run's lessons, newest first, with earlier runs', each once."""
    merged = {lesson.id: lesson for lesson in (*reversed(own), *known)}
    return tuple(merged.values())[:LESSONS_TOLD]


async def _interrupt(run: Run, effect: effects.Interrupt) -> None:
    run.append(TurnInterrupted(turn=effect.turn, reason="the worker ended in mid-turn; asked again"))


async def _fail(run: Run, effect: effects.FailAttempt) -> None:
    rule, attempt = run.place
    tried = run.state.item.attempt if run.state.item else None
    replayed = tried.replays if tried else ""
    run.append(AttemptFailed(rule=rule, attempt=attempt, cause=effect.cause, reason=effect.reason, replayed=replayed))


async def _close_item(run: Run, effect: effects.CloseItem) -> None:
    run.append(*await _ending(run, effect))


async def _ending(run: Run, effect: effects.CloseItem) -> Sequence[Event]:
    match effect.outcome:
        case "passed":
            return await change.passed(run)
        case "escalated":
            return (ItemEscalated(rule=effect.rule, reason=effect.reason),)
        case "skipped":
            return (ItemSkipped(rule=effect.rule, reason=effect.reason, waiver=effect.waiver),)
        case "deferred":
            return (ItemDeferred(rule=effect.rule, reason=effect.reason),)


async def _wait(run: Run, effect: effects.Wait) -> None:
    left = None if effect.until is None else max(0.0, effect.until - run.means.clock())
    try:
        await asyncio.wait_for(run.nudged.wait(), left)
    except TimeoutError:
        return
    run.nudged.clear()


async def _finish(run: Run, _: effects.Finish) -> None:
    state = run.state
    if state.request and state.request.after_reboot:
        await force.check_reboot(run)
    count = dict.fromkeys(("passed", "escalated", "skipped", "deferred", "waived"), 0)
    for item in state.items.values():
        count[item.status] += 1
    tree = await run.means.target.do(lambda target: target.digest())
    run.append(RunFinished(**count, regressions=regressions(state), tree=tree))


def regressions(state: RunState) -> tuple[str, ...]:
    """Return rules that passed before or during the run and fail at its end."""
    held = {rule for rule, verdict in state.opening.items() if verdict.word == "pass"}
    held |= {item.rule for item in state.items.values() if item.status == "passed"}
    return tuple(rule for rule, verdict in state.closing.items() if rule in held and verdict.word != "pass")


async def _stop(run: Run, _: effects.Stop) -> None:
    assert run.state.stopping
    tree = await run.means.target.do(lambda target: target.digest())
    run.append(RunStopped(by=run.state.stopping.by, reason=run.state.stopping.reason, tree=tree))


async def _halt(run: Run, effect: effects.Halt) -> None:
    run.append(RunFailed(reason=effect.reason))


_DO: dict[type, Callable[[Run, Any], Awaitable[None]]] = {
    effects.Start: _start,
    effects.Scan: _scan,
    effects.Scope: _scope,
    effects.StartItem: _start_item,
    effects.StartAttempt: _start_attempt,
    effects.Ask: ask,
    effects.Propose: propose,
    effects.Repeat: repeat,
    effects.TakeVendors: take_vendors,
    effects.DoWithout: do_without,
    effects.Interrupt: _interrupt,
    effects.Judge: change.judge,
    effects.Rehearse: change.rehearse,
    effects.RequestApproval: change.request_approval,
    effects.ExpireApproval: change.expire_approval,
    effects.Wait: _wait,
    effects.Apply: change.apply,
    effects.Verify: change.verify,
    effects.Watch: change.watch,
    effects.FailAttempt: _fail,
    effects.GatherFacts: change.gather_facts,
    effects.RollBack: change.roll_back,
    effects.CloseItem: _close_item,
    effects.Finish: _finish,
    effects.Stop: _stop,
    effects.Halt: _halt,
}
