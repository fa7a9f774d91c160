"""Up to how many requests at a time an engine gains by more, as far as a probe has seen."""

from itertools import pairwise

from app.machine.measuring.course import STEPS, STREAM_TOKENS
from app.machine.measuring.probed import Probed

GAIN = 1.1
"""What twice as many streams have to write more, or they only wait longer."""


def knee(probed: Probed) -> int | None:
    """None where more streams were still worth it: how many are too many was then not measured."""
    named = [(step.streams, probed.value(f"{step.key}.all_tok_s")) for step in STEPS if step.tokens == STREAM_TOKENS]
    measured = [(streams, together) for streams, together in named if together is not None]
    for (fewer, slower), (_, faster) in pairwise(measured):
        if faster < GAIN * slower:
            return fewer
    return None
