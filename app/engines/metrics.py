"""An engine's own figures: the few of vLLM's Prometheus names that the product shows."""

import re
from collections import defaultdict
from dataclasses import dataclass

_LINE = re.compile(r"^(vllm:[a-z_]+)(?:\{.*\})? ([^ ]+)")
_NAMES = {
    "vllm:num_requests_running",
    "vllm:num_requests_waiting",
    "vllm:kv_cache_usage_perc",
    "vllm:prompt_tokens_total",
    "vllm:generation_tokens_total",
}


@dataclass(frozen=True)
class EngineSample:
    """None is what the engine does not report."""

    running: int | None
    waiting: int | None
    kv_used: float | None
    """0 to 1."""
    prompt_tokens: int | None
    generation_tokens: int | None


def parse(text: str) -> EngineSample:
    found: dict[str, list[float]] = defaultdict(list)
    for line in text.split("\n"):
        if (match := _LINE.match(line)) and match[1] in _NAMES and (value := _number(match[2])) is not None:
            found[match[1]].append(value)
    shares = found["vllm:kv_cache_usage_perc"]
    return EngineSample(
        running=_sum(found["vllm:num_requests_running"]),
        waiting=_sum(found["vllm:num_requests_waiting"]),
        # One share per data-parallel engine: pools of equal size, so the mean is the whole pool's.
        kv_used=sum(shares) / len(shares) if shares else None,
        prompt_tokens=_sum(found["vllm:prompt_tokens_total"]),
        generation_tokens=_sum(found["vllm:generation_tokens_total"]),
    )


def rate(previous: int | None, current: int | None, seconds: float) -> float | None:
    """A counter's growth per second. A counter that fell was reset: the engine started anew at 0."""
    if previous is None or current is None or seconds <= 0:
        return None
    return (current - previous if current >= previous else current) / seconds


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _sum(values: list[float]) -> int | None:
    return round(sum(values)) if values else None
