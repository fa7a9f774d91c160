"""Probes: what an engine really takes and how fast it really is, on this machine."""
