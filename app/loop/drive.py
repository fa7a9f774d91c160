"""The main loop: fold, decide, perform, until the run has ended."""

import asyncio

from app.errors import ConnectionLost, RollbackFailed, StorageFault, TemperError, find_storage_fault
from app.events.kinds import AttemptFailed, Event, RunFailed, RunResumed, RunStopRequested, RunWaiting
from app.loop.change_execution import roll_back
from app.loop.decide import decide_next_effect
from app.loop.effects import Ask, Done, Effect, RollBack, Wait, WaitOut
from app.loop.inbox import Inbox, find_event_for_command
from app.loop.perform import perform_effect
from app.loop.run_in_progress import Run
from app.loop.state import RunState
from app.text.redaction import redact_secrets

STORAGE_RETRY_SECONDS = 1.0


async def drive_run(run: Run, inbox: Inbox, interruption_reason: str = "") -> None:
    """Drive the run to its end. `interruption_reason` says why it was left off, if its process did not end.

    Raises what ends the handling of commands: a run that waits for a person would otherwise wait for ever.
    """
    if run.state.started and not run.state.ended:
        run.append(RunResumed(by=run.services.worker, after_crash=True, reason=interruption_reason))
    inbox_task = asyncio.create_task(
        _handle_commands_until_cancelled(run, inbox), name=f"commands of run {run.state.run}"
    )
    work = asyncio.create_task(_perform_until_done(run), name=f"work on run {run.state.run}")
    try:
        done, _ = await asyncio.wait({work, inbox_task}, return_when=asyncio.FIRST_COMPLETED)
        (work if work in done else inbox_task).result()
    finally:
        await _cancel_and_wait(work)
        await _cancel_and_wait(inbox_task)
        await run.log.flush()


async def roll_back_and_fail_run(run: Run, reason: str) -> None:
    """Roll back open changes, since nothing else will, then fail the run."""
    try:
        await _roll_back_pending(run)
    except TemperError as exc:
        reason = f"halt: {exc} That was after {reason}"
    run.append(RunFailed(reason=redact_secrets(reason)))
    await run.log.flush()


async def _roll_back_pending(run: Run) -> None:
    """Roll back pending changes on the host; wait while our storage is unavailable."""
    while run.state.item:
        try:
            for journal in await run.services.target.run_blocking(lambda target: target.list_pending()):
                await roll_back(run, RollBack(journal, "fault"))
        except StorageFault:
            await asyncio.sleep(STORAGE_RETRY_SECONDS)
        else:
            return


async def _perform_until_done(run: Run) -> None:
    while not isinstance(effect := decide_next_effect(run.state, run.services.skill, run.services.clock()), Done):
        waiting = run.state.waiting
        try:
            await _perform_with_cancellable_turns_and_waits(run, effect)
        except (TemperError, OSError) as exc:
            if event := find_event_for_fault(exc, run.state):
                run.append(event)
            elif isinstance(exc, RollbackFailed):
                run.append(RunFailed(reason=redact_secrets(f"halt: {exc}")))
            elif isinstance(exc, TemperError):
                await roll_back_and_fail_run(run, str(exc))
            else:
                raise
        run.update_consecutive_fault_count(
            effect, has_fault=run.state.waiting is not None and run.state.waiting is not waiting
        )


def find_event_for_fault(exc: BaseException, state: RunState) -> Event | None:
    """Return the event that follows from a fault of the machinery; None if the run cannot go on after it.

    A host that stops to answer once it was changed may do so because of the change: that is a failed attempt.
    """
    if fault := find_storage_fault(exc):
        return RunWaiting(cause="storage", reason=redact_secrets(fault.sentence))
    if not isinstance(exc, ConnectionLost) or not state.started or state.stopping:
        return None
    attempt, reason = state.attempt, redact_secrets(exc.sentence)
    if attempt is None or attempt.journal is None or not attempt.has_apply_outcome:
        return RunWaiting(cause="host", reason=reason)
    if attempt.failed or state.item is None:
        return None
    return AttemptFailed(rule=state.item.rule, attempt=attempt.number, cause="change failed", reason=reason)


async def _perform_with_cancellable_turns_and_waits(run: Run, effect: Effect) -> None:
    """Perform the effect. A stop may cancel a turn or a wait, but nothing that touches the host."""
    task = asyncio.create_task(perform_effect(run, effect), name=f"{type(effect).__name__} of run {run.state.run}")
    run.cancellable = task if isinstance(effect, Ask | Wait | WaitOut) else None
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


async def _handle_commands_until_cancelled(run: Run, inbox: Inbox) -> None:
    while True:
        for command in await inbox.list_open_commands():
            event = find_event_for_command(command, run.state, run.services.clock())
            if event:
                run.append(event)
                await run.log.flush()
                run.nudged.set()
            await inbox.close(command)
            if isinstance(event, RunStopRequested) and run.cancellable:
                run.cancellable.cancel()
        await inbox.wait_for_commands()
