"""Temper: four AI roles harden a Linux host, in plain sight."""

__version__ = "0.2.0"
