"""What was seen of an engine, look after look, and what it was taken for."""

from app.machine.sampling.engine_state_transitions import (
    STALL_SECONDS,
    Condition,
    ReplicaObservation,
    choose_best_condition_or_degraded_if_some_serve,
    update_condition,
)

UP, GONE = ReplicaObservation(200, running=0, tokens=0), ReplicaObservation(None)


def states(*looks, every=1.0):
    now, seen_as, told = 0.0, Condition(), []
    for look in looks:
        seen_as = update_condition(seen_as, look, now)
        told.append(seen_as.state)
        now += every
    return told


def test_before_it_answers_it_is_absent_and_afterwards_dead():
    assert states(GONE, GONE, UP, GONE, GONE) == ["absent", "absent", "ready", "dead", "dead"]


def test_unwell_is_loading_before_it_was_ready_and_death_after():
    loading = ReplicaObservation(503, phase="Model loading took 16.3 GiB")
    assert states(GONE, loading, UP, ReplicaObservation(503), loading, UP) == [
        "absent", "loading", "ready", "dead", "loading", "ready",
    ]  # fmt: skip
    assert update_condition(Condition(), loading, 0).detail == "Model loading took 16.3 GiB"


def test_one_that_served_in_part_and_fails_its_check_has_died():
    assert states(UP, ReplicaObservation(200, trouble="no models"), ReplicaObservation(503)) == [
        "ready", "degraded", "dead",
    ]  # fmt: skip


def test_running_without_tokens_is_stalled_however_healthy_it_says_it_is():
    stuck = ReplicaObservation(200, running=2, tokens=100)
    assert states(UP, stuck, stuck, stuck, every=STALL_SECONDS) == ["ready", "ready", "stalled", "stalled"]
    assert states(stuck, stuck, ReplicaObservation(200, running=2, tokens=101), every=STALL_SECONDS) == [
        "ready",
        "stalled",
        "ready",
    ]


def test_nothing_to_do_is_no_stall():
    assert states(UP, UP, UP, every=STALL_SECONDS) == ["ready"] * 3


def test_a_request_after_long_idleness_has_its_time():
    stuck = ReplicaObservation(200, running=1, tokens=0)
    assert states(UP, stuck, every=10 * STALL_SECONDS)[0] == "ready"
    idle = update_condition(Condition("ready", "", 0, 0.0), UP, 1000.0)
    assert update_condition(idle, stuck, 1001.0).state == "ready"


def test_some_of_the_replicas_is_degraded():
    ready, dead, loading = Condition("ready"), Condition("dead"), Condition("loading")
    assert choose_best_condition_or_degraded_if_some_serve([ready, dead]) == Condition(
        "degraded", "1 of 2 replicas serve"
    )
    assert [
        choose_best_condition_or_degraded_if_some_serve(group).state
        for group in ([ready, ready], [dead, loading], [dead])
    ] == ["ready", "loading", "dead"]
