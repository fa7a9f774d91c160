"""The main loop: fold, decide, perform, until the run has ended."""

import asyncio

from app.errors import CannotRestore, TemperError
from app.events.kinds import RunFailed, RunResumed, RunStopRequested
from app.loop.change import roll_back
from app.loop.decide import decide
from app.loop.effects import Ask, Done, Effect, RollBack, Wait
from app.loop.inbox import Inbox, meaning
from app.loop.perform import perform
from app.loop.run import Run
from app.text.secrets import redacted


async def drive(run: Run, inbox: Inbox) -> None:
    if run.state.started and not run.state.ended:
        run.append(RunResumed(by=run.means.worker, after_crash=True))
    ears = asyncio.create_task(_listen(run, inbox), name=f"commands of run {run.state.run}")
    try:
        await _cycle(run)
    finally:
        await _end(ears)
        await run.log.flush()


async def give_up(run: Run, reason: str) -> None:
    """Roll back open changes, since nothing else will, then fail the run."""
    try:
        for journal in await run.means.target.do(lambda target: target.pending()) if run.state.item else ():
            await roll_back(run, RollBack(journal, "fault"))
    except TemperError as exc:
        reason = f"halt: {exc} That was after {reason}"
    run.append(RunFailed(reason=redacted(reason)))
    await run.log.flush()


async def _cycle(run: Run) -> None:
    while not isinstance(effect := decide(run.state, run.means.skill, run.means.clock()), Done):
        try:
            await _do(run, effect)
        except CannotRestore as exc:
            run.append(RunFailed(reason=redacted(f"halt: {exc}")))
        except TemperError as exc:
            await give_up(run, str(exc))


async def _do(run: Run, effect: Effect) -> None:
    """Perform the effect. A stop may cancel a turn or a wait, but nothing that touches the host."""
    task = asyncio.create_task(perform(run, effect), name=f"{type(effect).__name__} of run {run.state.run}")
    run.cancellable = task if isinstance(effect, Ask | Wait) else None
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        await _end(task)
        raise
    finally:
        run.cancellable = None
    if not task.cancelled():
        task.result()


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        task.exception()  # retrieved, so that asyncio does not log it


async def _listen(run: Run, inbox: Inbox) -> None:
    while True:
        for command in await inbox.waiting():
            event = meaning(command, run.state, run.means.clock())
            if event:
                run.append(event)
                await run.log.flush()
                run.nudged.set()
            await inbox.close(command)
            if isinstance(event, RunStopRequested) and run.cancellable:
                run.cancellable.cancel()
        await inbox.pause()
