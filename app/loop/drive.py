"""The main loop: fold, decide, perform, until the run has ended."""

import asyncio

from app.errors import RollbackFailed, TemperError
from app.events.kinds import RunFailed, RunResumed, RunStopRequested
from app.loop.change import roll_back
from app.loop.decide import decide_next_effect
from app.loop.effects import Ask, Done, Effect, RollBack, Wait
from app.loop.inbox import Inbox, interpret_command
from app.loop.perform import perform_effect
from app.loop.run import Run
from app.text.redaction import redact_secrets


async def drive_run(run: Run, inbox: Inbox) -> None:
    if run.state.started and not run.state.ended:
        run.append(RunResumed(by=run.services.worker, after_crash=True))
    ears = asyncio.create_task(_handle_commands(run, inbox), name=f"commands of run {run.state.run}")
    try:
        await _perform_until_done(run)
    finally:
        await _cancel_and_wait(ears)
        await run.log.flush()


async def fail_run(run: Run, reason: str) -> None:
    """Roll back open changes, since nothing else will, then fail the run."""
    try:
        for journal in (
            await run.services.target.run_blocking(lambda target: target.list_pending()) if run.state.item else ()
        ):
            await roll_back(run, RollBack(journal, "fault"))
    except TemperError as exc:
        reason = f"halt: {exc} That was after {reason}"
    run.append(RunFailed(reason=redact_secrets(reason)))
    await run.log.flush()


async def _perform_until_done(run: Run) -> None:
    while not isinstance(effect := decide_next_effect(run.state, run.services.skill, run.services.clock()), Done):
        try:
            await _perform_cancellable(run, effect)
        except RollbackFailed as exc:
            run.append(RunFailed(reason=redact_secrets(f"halt: {exc}")))
        except TemperError as exc:
            await fail_run(run, str(exc))


async def _perform_cancellable(run: Run, effect: Effect) -> None:
    """Perform the effect. A stop may cancel a turn or a wait, but nothing that touches the host."""
    task = asyncio.create_task(perform_effect(run, effect), name=f"{type(effect).__name__} of run {run.state.run}")
    run.cancellable = task if isinstance(effect, Ask | Wait) else None
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        await _cancel_and_wait(task)
        raise
    finally:
        run.cancellable = None
    if not task.cancelled():
        task.result()


async def _cancel_and_wait(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        task.exception()  # retrieved, so that asyncio does not log it


async def _handle_commands(run: Run, inbox: Inbox) -> None:
    while True:
        for command in await inbox.read_commands():
            event = interpret_command(command, run.state, run.services.clock())
            if event:
                run.append(event)
                await run.log.flush()
                run.nudged.set()
            await inbox.close(command)
            if isinstance(event, RunStopRequested) and run.cancellable:
                run.cancellable.cancel()
        await inbox.wait_for_commands()
