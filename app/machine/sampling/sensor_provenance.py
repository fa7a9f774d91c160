"""GPU sensors: unit, reader, method and age of each value."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.events.event_field_types import Provenance
from app.events.kinds import GpuSampled


@dataclass(frozen=True)
class Sensor:
    unit: str
    nvml: str
    dcgm: str


@dataclass(frozen=True)
class SensorReading:
    value: float | None
    unit: str
    provenance: Provenance
    source: str
    age: float
    """Seconds, at the time of its sample."""


SENSORS = msgspec.toml.decode(Path(__file__).with_name("gpu_sensors.toml").read_bytes(), type=dict[str, Sensor])
_OF_HOST = "/proc/meminfo of the host, which shares its memory with the GPU"
_AGED_AS = {"pcie_rx_mb_s": "pcie", "pcie_tx_mb_s": "pcie"}


def to_sensor_reading(event: GpuSampled, field: str, exporters: Mapping[str, str]) -> SensorReading:
    sensor, value = SENSORS[field], getattr(event, field)
    age = event.ages.get(_AGED_AS.get(field, field), 0.0) + event.ages.get("scrape", 0.0)
    source = describe_gpu_data_source(event, exporters)
    if not event.simulated:
        shared = event.unified and field in ("used_gib", "total_gib")
        source = _OF_HOST if shared else f"{source}: {sensor.dcgm if event.host else sensor.nvml}"
    provenance: Provenance = "simulated" if event.simulated else "measured"
    return SensorReading(value, sensor.unit, "unsupported" if value is None else provenance, source, age)


def describe_gpu_data_source(event: GpuSampled, exporters: Mapping[str, str]) -> str:
    if event.simulated:
        return "Temper's simulator"
    if event.host:
        return f"DCGM exporter at {exporters[event.host]}" if event.host in exporters else f"DCGM of {event.host}"
    return "NVML"
