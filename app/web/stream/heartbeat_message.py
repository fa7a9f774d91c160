"""The heartbeat of a silent stream. Proxies and browsers close a connection on which nothing is sent for a while."""

HEARTBEAT_SECONDS = 15.0
"""Seconds without an event after which every viewer of the stream gets a heartbeat."""
HEARTBEAT = b": still here\n\n"
"""A comment by the SSE format, which browsers ignore."""
