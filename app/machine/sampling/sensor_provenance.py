"""GPU sensors: unit, reader, method and age of each value."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.events.kinds import GpuSampled
from app.events.vocabulary import Provenance


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


SENSORS: Mapping[str, Sensor] = {
    "used_gib": Sensor("GiB", "memory info, reserved memory apart", "DCGM_FI_DEV_FB_USED"),
    "total_gib": Sensor("GiB", "memory info", "DCGM_FI_DEV_FB_USED, FB_FREE and FB_RESERVED together"),
    "reserved_gib": Sensor("GiB", "memory info", "DCGM_FI_DEV_FB_RESERVED"),
    "utilization": Sensor("%", "utilization rates", "DCGM_FI_DEV_GPU_UTIL"),
    "power_w": Sensor("W", "power usage", "DCGM_FI_DEV_POWER_USAGE"),
    "power_limit_w": Sensor("W", "enforced power limit", "DCGM_FI_DEV_POWER_MGMT_LIMIT"),
    "temperature_c": Sensor("Cel", "temperature", "DCGM_FI_DEV_GPU_TEMP"),
    "energy_j": Sensor("J", "total energy consumption", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"),
    "sm_mhz": Sensor("MHz", "clock of the multiprocessors", "DCGM_FI_DEV_SM_CLOCK"),
    "memory_mhz": Sensor("MHz", "clock of the memory", "DCGM_FI_DEV_MEM_CLOCK"),
    "pcie_rx_mb_s": Sensor("MB/s", "field 198, a byte counter, over one second", "DCGM_FI_PROF_PCIE_RX_BYTES"),
    "pcie_tx_mb_s": Sensor("MB/s", "field 197, a byte counter, over one second", "DCGM_FI_PROF_PCIE_TX_BYTES"),
}
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
