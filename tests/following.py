"""A run, followed in its own process to its end."""

from app.events.kinds import RunFailed, RunFinished


async def followed(runtime, run):
    """All that its log says, once it is over."""
    events = []
    while not events or not isinstance(events[-1].event, RunFinished | RunFailed):
        seq = events[-1].seq if events else 0
        await runtime.bus.wait_for_event_after(run, seq)
        events += runtime.store.read_events(run, after=seq)
    return events
