"""The number of concurrent requests beyond which an engine gains no throughput, from a probe."""

from itertools import pairwise

from app.machine.measuring.course import STEPS, STREAM_TOKENS
from app.machine.measuring.probed import ProbeResult

GAIN = 1.1
"""Minimum gain of twice the streams; below it, more streams only wait longer."""


def find_saturation(probed: ProbeResult) -> int | None:
    """Return the saturation point, or None if the largest step measured still gained."""
    named = [
        (step.streams, probed.find_value(f"{step.key}.all_tok_s")) for step in STEPS if step.tokens == STREAM_TOKENS
    ]
    measured = [(streams, together) for streams, together in named if together is not None]
    for (fewer, slower), (_, faster) in pairwise(measured):
        if faster < GAIN * slower:
            return fewer
    return None
