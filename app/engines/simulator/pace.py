"""Due time of each token of a reply, counted from the start so that late timers do not add up."""

import math
from dataclasses import dataclass

TICK = 0.02
"""Seconds between chunks, at most fifty per second; a faster engine sends several tokens in each."""


@dataclass(frozen=True)
class Pace:
    prefill: float
    """Seconds before the first token."""
    rate: float
    """Tokens per second; infinite without waiting."""

    def compute_due_time(self, token: int) -> float:
        """Return the seconds from the start at which a token is due; tokens count from 1."""
        return self.prefill + (token - 1) / self.rate

    def count_due_tokens(self, elapsed: float) -> int:
        """Return how many tokens are due after `elapsed` seconds."""
        if elapsed < self.prefill:
            return 0
        return 2**31 if math.isinf(self.rate) else 1 + math.floor((elapsed - self.prefill) * self.rate + 1e-9)


def create_pace(prompt_tokens: int, prefill_tok_s: float, tok_s: float, speed: float) -> Pace:
    if speed == 0:
        return Pace(0.0, math.inf)
    return Pace(prompt_tokens / (prefill_tok_s * speed), tok_s * speed)
