"""Compares settings with what is in force: at the start of a run, after a change and after a reboot."""

import asyncio

from app.events.kinds import ForceAsked, RebootChecked
from app.events.words import Behind
from app.loop.harm import worse
from app.loop.run import Run
from app.loop.state import RunState
from app.store.before import Left
from app.targets.running import InForce
from app.text.clean import clean
from app.text.secrets import redacted


def told(standing: InForce, rule: str = "", attempt: int = 0) -> list[ForceAsked]:
    """Return the event of a check; none if no program answered, except for the boot id at the start."""
    if not standing.asked and (rule or not standing.boot):
        return []
    behind = tuple(_inert(one) for one in standing.behind)
    return [ForceAsked(rule=rule, attempt=attempt, boot=standing.boot, asked=standing.asked, behind=behind)]


def _inert(one: Behind) -> Behind:
    return Behind(
        program=one.program,
        setting=redacted(one.setting),
        wanted=redacted(one.wanted),
        running=redacted(one.running),
        by=one.by,
    )


async def check_reboot(run: Run) -> None:
    left = await asyncio.to_thread(run.means.before.left)
    standing = await run.means.target.do(lambda target: target.running())
    run.append(after_reboot(run.state, left, standing))


def after_reboot(state: RunState, left: Left, standing: InForce) -> RebootChecked:
    holds = {rule for rule, verdict in state.opening.items() if verdict.word == "pass"}
    fails = {rule for rule, verdict in state.opening.items() if verdict.word == "fail"}
    still = {(one.program, one.setting) for one in standing.behind}
    waiting = {rule for rule, one in left.behind if (one.program, one.setting) in still}
    waited = {rule for rule, _ in left.behind} - waiting
    late = {rule for rule in left.passed - left.held if rule in holds}
    probes = state.started.probes if state.started else ()
    return RebootChecked(
        of=left.run,
        boot_before=left.boot,
        boot_now=standing.boot,
        rebooted=bool(left.boot and standing.boot and left.boot != standing.boot),
        slipped=tuple(sorted(left.held & fails)),
        arrived=tuple(sorted((waited & holds) | late)),
        waiting=tuple(sorted(waiting)),
        behind=tuple(_inert(one) for one in standing.behind),
        worse=clean(redacted(worse(left.probes, probes) or ""), 400) if left.run else "",
    )
