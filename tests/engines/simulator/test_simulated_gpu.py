"""A card warms up with work and cools down without."""

from dataclasses import replace

from app.engines.simulator.simulated_gpu import SimulatedGpu
from app.lineups.model import Gpu

L4 = Gpu(0, "NVIDIA L4", 22.5, 300)


def test_a_card_follows_its_work_with_inertia():
    card = SimulatedGpu(L4, now=0.0)
    idle = card.read_status(1.0, 100.0)
    assert (idle.utilization, idle.power_w) == (0, 28.0)
    card.set_load(1.0, 100.0)
    assert card.read_status(1.0, 100.0) == idle
    short, longer = card.read_status(1.0, 101.0), card.read_status(1.0, 200.0)
    assert idle.utilization < short.utilization < longer.utilization == 100
    assert idle.temperature_c < longer.temperature_c
    assert longer.power_w == 70.0
    card.set_load(0.0, 200.0)
    assert card.read_status(1.0, 300.0).power_w == 28.0


def test_a_card_is_hot_for_longer_than_it_is_busy():
    card = SimulatedGpu(L4, now=0.0)
    card.set_load(1.0, 0.0)
    card.set_load(0.0, 100.0)
    after = card.read_status(1.0, 105.0)
    assert after.utilization <= 1
    assert after.temperature_c > 60


def test_a_card_counts_the_energy_of_the_power_that_it_tells():
    card = SimulatedGpu(L4, now=0.0)
    card.set_load(1.0, 10.0)
    card.set_load(0.0, 20.0)
    steps = [second / 100 for second in range(3001)]
    drawn = sum(card_power(at) / 100 for at in steps[:-1])
    assert abs(card.read_status(1.0, 30.0).energy_j - drawn) < 2.0
    assert card.read_status(1.0, 30.0).power_limit_w == 72.0
    assert SimulatedGpu(replace(L4, kind="NVIDIA H100"), now=0.0).read_status(1.0, 1.0).power_limit_w is None


def card_power(at):
    """The same work, read as it goes on."""
    card = SimulatedGpu(L4, now=0.0)
    if at >= 10:
        card.set_load(1.0, 10.0)
    if at >= 20:
        card.set_load(0.0, 20.0)
    return card.read_status(1.0, at).power_w
