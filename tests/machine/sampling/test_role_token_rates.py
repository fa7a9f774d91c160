"""Tokens a second by role are read off the log, second by second."""

from msgspec.structs import replace

from app.events.kinds import RunFinished, TurnDelta
from app.events.record import GENESIS, build_recorded_event
from app.machine.sampling.role_token_rates import RoleRates
from tests.machine.sampling.test_run_energy import FINISHED, QUEUED, STARTED, answered, asked, stored


class Log:
    def __init__(self, store, run):
        self.store, self.run, self.seq, self.hash = store, run, 0, GENESIS

    def add(self, *events):
        for event in events:
            one = build_recorded_event(self.run, self.seq + 1, 1000.0 + self.seq, event, self.hash)
            self.store.append([one])
            self.seq, self.hash = one.seq, one.hash


def tokens(count, role="worker"):
    return TurnDelta(turn="t", role=role, channel="answer", text="x", tokens=count)


def test_a_role_has_the_tokens_that_came_since_the_last_look(tmp_path):
    with stored(tmp_path) as store:
        log, rates = Log(store, "r1"), RoleRates(store)
        log.add(QUEUED, STARTED, asked("worker", "big"), tokens(5))
        assert rates.compute_rates_since_last_call(10.0) == {}, "over no time there is no rate"
        log.add(tokens(12), tokens(25))
        assert rates.compute_rates_since_last_call(12.0) == {"big": {"worker": 10.0}}
        assert rates.compute_rates_since_last_call(13.0) == {}
        log.add(answered("worker", 25), replace(asked("architect", "big"), turn="u"))
        log.add(replace(tokens(8, "architect"), turn="u"))
        assert rates.compute_rates_since_last_call(14.0) == {"big": {"architect": 8.0}}


def test_two_runs_at_once_are_added_up_and_one_that_ended_is_forgotten(tmp_path):
    with stored(tmp_path) as store:
        one, two, rates = Log(store, "r1"), Log(store, "r2"), RoleRates(store)
        one.add(QUEUED, STARTED, asked("worker", "big"))
        two.add(QUEUED, STARTED, replace(asked("sentry", "small"), turn="u"))
        rates.compute_rates_since_last_call(1.0)
        one.add(tokens(3))
        two.add(replace(tokens(4, "sentry"), turn="u"))
        assert rates.compute_rates_since_last_call(2.0) == {"big": {"worker": 3.0}, "small": {"sentry": 4.0}}
        one.add(tokens(9), FINISHED)
        assert isinstance(FINISHED, RunFinished)
        assert rates.compute_rates_since_last_call(3.0) == {}
        assert [*rates._open] == ["u"], "its open turn is forgotten with it"


def test_after_a_pause_nothing_is_called_a_rate(tmp_path):
    with stored(tmp_path) as store:
        log, rates = Log(store, "r1"), RoleRates(store)
        log.add(QUEUED, STARTED, asked("worker", "big"))
        rates.compute_rates_since_last_call(1.0)
        log.add(tokens(500))
        assert rates.compute_rates_since_last_call(60.0) == {}
        log.add(tokens(510))
        assert rates.compute_rates_since_last_call(61.0) == {"big": {"worker": 10.0}}
