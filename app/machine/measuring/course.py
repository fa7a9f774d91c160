"""What a probe asks of an engine, and in which order."""

from dataclasses import dataclass

from app.lineups.model import Engine

PROMPT_ROOM = 1000
"""Tokens that our longest prompt may take of the context, whatever the tokenizer."""
STREAM_TOKENS = 256
_SINGLES = (128, 256, 512)
_STREAMS = (4, 8)


@dataclass(frozen=True)
class CourseStep:
    """`streams` questions at a time, each answered with exactly `tokens` tokens."""

    streams: int
    tokens: int
    skipped: str = ""
    """Why this engine is not asked; empty where it is."""

    @property
    def key(self) -> str:
        return f"{self.streams}x{self.tokens}"

    @property
    def says(self) -> str:
        many = "1 stream" if self.streams == 1 else f"{self.streams} streams"
        return f"{many} of {self.tokens} tokens"


WARM_UP = CourseStep(1, 16)
"""Its answer counts for nothing: the first request of an engine compiles and fills caches."""
SUSTAINED = CourseStep(1, 512)
"""The step that speed limits and other people's figures are held against."""
STEPS = (*(CourseStep(1, tokens) for tokens in _SINGLES), *(CourseStep(streams, STREAM_TOKENS) for streams in _STREAMS))


def course(engine: Engine) -> tuple[CourseStep, ...]:
    return tuple(CourseStep(step.streams, step.tokens, _skipped(step, engine)) for step in STEPS)


def _skipped(step: CourseStep, engine: Engine) -> str:
    if step.tokens + PROMPT_ROOM > engine.max_model_len:
        return f"its context of {engine.max_model_len} tokens holds no prompt beside {step.tokens} tokens of answer"
    if engine.max_num_seqs is not None and step.streams > engine.max_num_seqs:
        return f"it takes {engine.max_num_seqs} requests at a time: the rest would only queue"
    return ""
