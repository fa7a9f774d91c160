"""Metrics of a simulated engine as Prometheus text with vLLM's names."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

_TTFT = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0)
_GAP = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0)
_WHOLE = (0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0)
_REASONS = ("stop", "length", "abort", "error")


class Histogram:
    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float, times: int = 1) -> None:
        place = next((n for n, bound in enumerate(self._bounds) if value <= bound), len(self._bounds))
        self._counts[place] += times
        self._sum += value * times

    def render_lines(self, name: str, labels: str) -> Iterator[str]:
        total = 0
        for bound, count in zip((*map(str, self._bounds), "+Inf"), self._counts, strict=True):
            total += count
            yield f'{name}_bucket{{{labels},le="{bound}"}} {total:.1f}'
        yield f"{name}_count{{{labels}}} {total:.1f}"
        yield f"{name}_sum{{{labels}}} {self._sum!r}"


@dataclass
class EngineMeters:
    prompt_tokens: int = 0
    generation_tokens: int = 0
    finished: Counter[str] = field(default_factory=Counter)
    ttft: Histogram = field(default_factory=lambda: Histogram(_TTFT))
    gaps: Histogram = field(default_factory=lambda: Histogram(_GAP))
    whole: Histogram = field(default_factory=lambda: Histogram(_WHOLE))

    def render_text(self, model: str, *, running: int, kv_used_share: float, kv_tokens: int) -> str:
        labels = f'engine="0",model_name="{model}"'
        gauges = {"num_requests_running": running, "num_requests_waiting": 0, "kv_cache_usage_perc": kv_used_share}
        counters = {
            "prompt_tokens": self.prompt_tokens,
            "prompt_tokens_cached": 0,
            "generation_tokens": self.generation_tokens,
            "prefix_cache_queries": self.prompt_tokens,
            "prefix_cache_hits": 0,
            "num_preemptions": 0,
        }
        histograms = {
            "time_to_first_token_seconds": self.ttft,
            "inter_token_latency_seconds": self.gaps,
            "e2e_request_latency_seconds": self.whole,
        }
        lines = []
        for name, value in gauges.items():
            lines += [f"# TYPE vllm:{name} gauge", f"vllm:{name}{{{labels}}} {float(value)}"]
        for name, value in counters.items():
            lines += [f"# TYPE vllm:{name}_total counter", f"vllm:{name}_total{{{labels}}} {float(value)}"]
        name = "vllm:request_success_total"
        lines.append(f"# TYPE {name} counter")
        lines += [
            f'{name}{{{labels},finished_reason="{reason}"}} {float(self.finished[reason])}' for reason in _REASONS
        ]
        lines.append("# TYPE vllm:cache_config_info gauge")
        lines.append(f'vllm:cache_config_info{{engine="0",kv_cache_size_tokens="{kv_tokens}"}} 1.0')
        for name, histogram in histograms.items():
            lines += [f"# TYPE vllm:{name} histogram", *histogram.render_lines(f"vllm:{name}", labels)]
        return "\n".join(lines) + "\n"
