"""When tokens are due: counted from the start, so that nothing drifts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.simulator.simulated_engine import Pace, create_pace


def test_the_first_token_waits_for_the_prompt():
    assert create_pace(prompt_tokens=3000, prefill_tok_s=1500, tok_s=15.1, speed=2) == Pace(prefill=1.0, rate=30.2)


def test_at_speed_nought_nothing_waits():
    instant = create_pace(3000, 1500, 15.1, 0)
    assert (instant.compute_due_time(1000), instant.count_due_tokens(0.0)) == (0.0, 2**31)


def test_nothing_is_due_before_the_first():
    assert [Pace(1.0, 10.0).count_due_tokens(at) for at in (0.0, 0.99, 1.0, 1.05, 1.1, 2.0)] == [0, 0, 1, 1, 2, 11]


def test_a_late_timer_is_made_up_for():
    steady = Pace(0.5, 15.1)
    late = [steady.count_due_tokens(0.5 + second + 0.03) for second in range(100)]
    assert late[-1] - late[0] == pytest.approx(99 * 15.1, abs=1)


@given(st.floats(0, 10), st.floats(0.1, 5000), st.integers(1, 5000))
def test_a_token_is_due_when_it_is(prefill, rate, token):
    steady = Pace(prefill, rate)
    assert steady.count_due_tokens(steady.compute_due_time(token) + 1e-6) >= token
    assert steady.count_due_tokens(steady.compute_due_time(token) - 2e-3 - 0.01 / rate) < token
