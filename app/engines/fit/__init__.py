"""Estimate an engine's GPU memory and maximum speed before it is started."""
