"""When the queue rests, and what wakes it."""

from app.runtime.accepted_runs_offered_to_queue import QUIET, IdleQueueSuspender


class Queue:
    def __init__(self):
        self.awake = True

    async def launch(self):
        self.awake = True

    async def suspend_if_idle(self):
        self.awake = False


class Changes:
    """A database's, of which nobody tells."""

    def __init__(self):
        self.now = 1

    def version(self):
        return self.now


class Place:
    """A database with or without a run that has not ended."""

    def __init__(self):
        self.runs, self.asked = 0, 0
        self.changes = Changes()
        self.queue = Queue()
        self.rests = IdleQueueSuspender(self.queue, self.idle, self.changes)

    def idle(self):
        self.asked += 1
        return self.runs == 0

    def becomes(self, runs):
        self.runs = runs
        self.changes.now += 1

    async def at(self, now):
        await self.rests.suspend_or_launch_queue(now)
        return self.queue.awake


async def test_it_rests_after_a_while_without_a_run_and_wakes_for_one_that_another_process_asked_for():
    place = Place()
    place.becomes(1)
    assert await place.at(0)
    assert await place.at(QUIET + 1)
    place.becomes(0)
    assert [await place.at(now) for now in (20, 21, 20 + QUIET)] == [True, True, False]
    place.becomes(1)
    assert await place.at(40)
    place.becomes(0)
    assert [await place.at(41), await place.at(41 + QUIET)] == [True, False]


async def test_at_rest_nothing_is_read_from_a_database_that_has_not_changed():
    place = Place()
    await place.at(0)
    await place.at(QUIET)
    asked = place.asked
    await place.at(QUIET + 1)
    await place.at(QUIET + 2)
    assert place.asked == asked
    place.changes.now += 1
    await place.at(QUIET + 3)
    assert place.asked == asked + 1
