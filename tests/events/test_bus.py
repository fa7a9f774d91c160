from app.events.bus import TAIL, Bus
from app.events.kinds import RunPaused
from app.events.record import build_recorded_event


def written(*seqs, run="r"):
    return [build_recorded_event(run, seq, 0.0, RunPaused(by=str(seq)), "") for seq in seqs]


def seqs(batch):
    return [one.seq for one in batch]


def test_who_follows_a_run_is_handed_what_was_written_after_what_he_has():
    bus = Bus()
    with bus.follow_run("r") as tail:
        bus.publish(written(4, 5) + written(1, run="other"))
        bus.publish(written(6))
        assert [seqs(tail.read_after(seq, 9)) for seq in (2, 3, 4, 5, 6, 9)] == [[], [4, 5, 6], [5, 6], [6], [], []]
        assert seqs(tail.read_after(3, 2)) == [4, 5]


def test_what_another_process_wrote_in_between_leaves_no_gap_unseen():
    bus = Bus()
    with bus.follow_run("r") as tail:
        bus.publish(written(1, 2))
        bus.notify_external("r", 3)
        assert seqs(tail.read_after(1, 9)) == [2]
        assert tail.read_after(2, 9) == []
        bus.publish(written(4))
        assert (tail.read_after(1, 9), seqs(tail.read_after(3, 9))) == ([], [4])


def test_no_more_than_a_tail_is_kept_and_nothing_of_what_nobody_follows():
    bus = Bus()
    bus.publish(written(1))
    with bus.follow_run("r") as tail:
        assert tail.read_after(0, 9) == []
        bus.publish(written(*range(2, TAIL + 3)))
        assert tail.read_after(1, 9) == []
        assert len(tail.read_after(2, 2 * TAIL)) == TAIL
        with bus.follow_run("r") as same:
            assert same is tail
    assert bus._tails == {}
