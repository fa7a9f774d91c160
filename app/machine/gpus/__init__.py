"""What the GPUs say of themselves: real ones through NVML, simulated ones through the simulator."""
