"""The steps of a probe, in order."""

from dataclasses import dataclass

from app.lineups.model import Engine

PROMPT_ROOM = 1000
"""Upper bound of our longest prompt in tokens, for any tokenizer."""
STREAM_TOKENS = 256
_SINGLES = (128, 256, 512)
_STREAMS = (4, 8)


@dataclass(frozen=True)
class ProbeStep:
    """`streams` concurrent requests, each answered with exactly `tokens` tokens."""

    streams: int
    tokens: int
    skipped: str = ""
    """Why this engine skips the step; empty if it does not."""

    @property
    def key(self) -> str:
        return f"{self.streams}x{self.tokens}"

    @property
    def label(self) -> str:
        many = "1 stream" if self.streams == 1 else f"{self.streams} streams"
        return f"{many} of {self.tokens} tokens"


WARM_UP = ProbeStep(1, 16)
"""Not measured: an engine's first request compiles and fills caches."""
SUSTAINED = ProbeStep(1, 512)
"""The step that is compared with speed limits and reported figures."""
STEPS = (*(ProbeStep(1, tokens) for tokens in _SINGLES), *(ProbeStep(streams, STREAM_TOKENS) for streams in _STREAMS))


def list_probe_steps_with_skip_reasons(engine: Engine) -> tuple[ProbeStep, ...]:
    return tuple(ProbeStep(step.streams, step.tokens, _get_skip_reason_or_empty(step, engine)) for step in STEPS)


def _get_skip_reason_or_empty(step: ProbeStep, engine: Engine) -> str:
    if step.tokens + PROMPT_ROOM > engine.max_model_len:
        return f"its context of {engine.max_model_len} tokens holds no prompt beside {step.tokens} tokens of answer"
    if engine.max_num_seqs is not None and step.streams > engine.max_num_seqs:
        return f"it takes {engine.max_num_seqs} requests at a time: the rest would only queue"
    return ""
