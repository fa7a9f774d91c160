"""Who read a sensor, how, and how long ago."""

import pytest

from app.events.kinds import GpuSampled
from app.machine.sampling.sensor_provenance import SENSORS, to_sensor_reading
from tests.machine.samples import gpu_sample

EXPORTERS = {"node7": "http://node7:9400/metrics"}


def card(**more):
    return gpu_sample(**{"used_gib": None, "total_gib": None, **more})


@pytest.mark.parametrize(
    ("event", "field", "provenance", "source"),
    [
        (card(power_w=68.0), "power_w", "measured", "NVML: power usage"),
        (card(), "power_w", "unsupported", "NVML: power usage"),
        (
            card(power_w=68.0, host="node7"),
            "power_w",
            "measured",
            "DCGM exporter at http://node7:9400/metrics: DCGM_FI_DEV_POWER_USAGE",
        ),
        (card(power_w=68.0, host="node8"), "power_w", "measured", "DCGM of node8: DCGM_FI_DEV_POWER_USAGE"),
        (card(power_w=68.0, simulated=True), "power_w", "simulated", "Temper's simulator"),
        (
            card(used_gib=60.0, unified=True),
            "used_gib",
            "measured",
            "/proc/meminfo of the host, which shares its memory with the GPU",
        ),
    ],
)
def test_every_figure_says_where_it_is_from(event, field, provenance, source):
    said = to_sensor_reading(event, field, EXPORTERS)
    assert (said.provenance, said.source) == (provenance, source)


def test_a_figure_is_as_old_as_its_sensors_reading_and_the_scrape():
    event = card(energy_j=5.0, pcie_rx_mb_s=1.0, ages={"energy_j": 7.0, "pcie": 3.0, "scrape": 0.5})
    ages = [to_sensor_reading(event, field, {}).age for field in ("energy_j", "pcie_rx_mb_s", "power_w")]
    assert ages == [7.5, 3.5, 0.5]


def test_every_sensor_is_a_field_of_the_sample():
    assert set(SENSORS) <= set(GpuSampled.__struct_fields__)
