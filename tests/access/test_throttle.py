from app.access.throttle import TRIES, WITHIN, Throttle


def test_a_few_wrong_tries_make_name_and_address_wait_and_time_heals_it():
    now = 0.0
    throttle = Throttle(clock=lambda: now)
    for _ in range(TRIES):
        assert throttle.wait("jo", "here") == 0
        throttle.failed("jo", "here")
    assert throttle.wait("jo", "elsewhere") == WITHIN
    assert throttle.wait("sam", "here") == WITHIN
    assert throttle.wait("sam", "elsewhere") == 0
    now = WITHIN
    assert throttle.wait("jo", "here") == 0


def test_what_is_over_is_forgotten():
    now = 0.0
    throttle = Throttle(clock=lambda: now)
    for number in range(1000):
        now = number * WITHIN * 2.0
        throttle.failed(f"name {number}", f"{number}")
    assert len(throttle._failures) <= 4
