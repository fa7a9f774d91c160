"""The machine's seq, given out by whoever leads."""

from app.events.kinds import EngineState
from app.machine.sampling.machine_event_log_writer import MachineLog


class Writer:
    def __init__(self):
        self.lost, self.stalled_seconds, self.seqs = set(), 0.0, []

    def enqueue_batch(self, batch):
        self.seqs += [one.seq for one in batch]


async def test_between_two_turns_at_leading_another_has_written():
    sample = EngineState(engine="e", state="ready")
    writer, turn, newest = Writer(), [1], [0]
    log = MachineLog(writer, lambda: newest[0], leads=lambda: turn[0])
    await log.record_and_write_if_leader(sample)
    await log.record_and_write_if_leader(sample)
    turn[0], newest[0] = 3, 7  # it was given up, another led, and it leads again before it looked
    await log.record_and_write_if_leader(sample)
    assert writer.seqs == [1, 2, 8]
    turn[0] = 0
    await log.record_and_write_if_leader(sample)
    assert writer.seqs == [1, 2, 8], "another leads"
