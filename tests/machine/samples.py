"""What a GPU of no account tells, for tests that care about one thing of it."""

from app.events.kinds import GpuSampled


def gpu_sample(gpu=0, **given):
    usual = {"used_gib": 1, "total_gib": 23, "utilization": None, "power_w": None, "temperature_c": None}
    return GpuSampled(**{"gpu": gpu, "name": "NVIDIA L4", "simulated": False, **usual, **given})
