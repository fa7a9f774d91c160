"""GPU readings: real GPUs through NVML and DCGM, simulated ones through the simulator."""
