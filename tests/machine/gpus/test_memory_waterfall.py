"""Given what is measured and what is said of it: parts that add up, and nothing hidden."""

import math

from hypothesis import given
from hypothesis import strategies as st

from app.machine.gpus.memory_waterfall import Amount, Claim, split_memory

PROVENANCE = st.sampled_from(["measured", "derived", "estimated", "simulated"])
AMOUNT = st.builds(Amount, st.floats(0, 200), PROVENANCE, st.just("somebody"))
MAYBE = st.none() | AMOUNT
CLAIM = st.builds(Claim, st.sampled_from(["a", "b"]), MAYBE, MAYBE, MAYBE, MAYBE)


def measured(gib):
    return Amount(gib, "measured", "NVML")


def estimated(gib):
    return Amount(gib, "estimated", "plan")


def parts(*, total=23.0, used=21.9, reserved=0.4, claims=(), others=None):
    found = split_memory(measured(total), measured(used), measured(reserved), claims, others)
    assert math.isclose(sum(part.gib for part in found), total, abs_tol=1e-9)
    return {part.kind: part for part in found}


@given(AMOUNT, AMOUNT, MAYBE, st.lists(CLAIM, max_size=3), MAYBE)
def test_whatever_is_said_the_parts_add_up_to_the_total(total, used, reserved, claims, others):
    found = split_memory(total, used, reserved, claims, others)
    assert math.isclose(sum(part.gib for part in found), total.gib, abs_tol=1e-6)
    assert all(part.gib >= 0 for part in found)
    assert [part.kind for part in found if part.kind == "other"] == ["other"]


@given(AMOUNT, AMOUNT, st.lists(CLAIM, max_size=3), MAYBE)
def test_what_is_cut_to_fit_says_so(total, used, claims, others):
    for part in split_memory(total, used, None, claims, others):
        assert part.claimed_gib is None or part.claimed_gib > part.gib


def test_an_engine_whose_memory_is_measured_leaves_graphs_as_the_rest():
    claim = Claim("big", held=measured(21.5), weights=estimated(16.3), kv=estimated(2.4))
    found = parts(claims=[claim], others=measured(0.3))
    assert round(found["graphs"].gib, 6) == 2.8
    assert (found["graphs"].provenance, found["graphs"].engine) == ("derived", "big")
    assert (found["processes"].gib, round(found["other"].gib, 6)) == (0.3, 0.1)
    assert (found["reserved"].gib, round(found["free"].gib, 6)) == (0.4, 0.7)
    assert not any(part.claimed_gib for part in found.values())


def test_while_weights_load_only_what_is_there_is_shown_and_the_claim_is_told():
    found = parts(used=5.0, claims=[Claim("big", held=measured(4.8), weights=estimated(16.3), kv=estimated(2.4))])
    assert (found["weights"].gib, found["weights"].claimed_gib) == (4.8, 16.3)
    assert (found["kv"].gib, found["kv"].claimed_gib) == (0.0, 2.4)
    assert found["graphs"].gib == 0


def test_memory_of_an_engine_that_nobody_takes_apart_stays_one_part():
    found = parts(claims=[Claim("big", held=measured(21.0))])
    assert (found["engine"].gib, found["engine"].provenance) == (21.0, "measured")


def test_without_processes_the_estimates_stand_and_what_they_leave_is_other():
    claim = Claim("big", weights=estimated(16.3), kv=estimated(2.4), graphs=estimated(2.0))
    found = parts(claims=[claim])
    assert (found["graphs"].gib, found["graphs"].provenance) == (2.0, "estimated")
    assert round(found["other"].gib, 6) == 1.2


def test_estimates_beyond_what_is_used_are_flagged_and_not_stacked_over_it():
    claim = Claim("big", weights=estimated(20.0), kv=estimated(2.4))
    found = parts(used=21.0, claims=[claim])
    assert (round(found["kv"].gib, 6), found["kv"].claimed_gib) == (1.0, 2.4)
    assert found["weights"].claimed_gib is None


def test_two_engines_on_one_gpu_each_have_their_parts():
    claims = [Claim("a", held=measured(8), weights=estimated(6), kv=estimated(1)), Claim("b", held=measured(4))]
    found = split_memory(measured(23), measured(12.5), None, claims, None)
    assert [(part.kind, part.engine, part.gib) for part in found] == [
        ("weights", "a", 6), ("kv", "a", 1), ("graphs", "a", 1), ("engine", "b", 4), ("other", "", 0.5),
        ("free", "", 10.5),
    ]  # fmt: skip
