"""Parse an engine's Prometheus metrics: vLLM's names since 0.19, llama.cpp's and SGLang's."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
from prometheus_client.parser import text_string_to_metric_families

_NAMES = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, dict[str, str]])
_SUMMED, _LLAMACPP, _SGLANG = (_NAMES[name] for name in ("summed", "llamacpp", "sglang"))
_KV_USED = "vllm:kv_cache_usage_perc"
_FIRST_TOKENS = "vllm:time_to_first_token_seconds_sum"
_CACHE = "vllm:cache_config_info"
_STARTED = "process_start_time_seconds"
_LLAMACPP_READ = "llamacpp:prompt_tokens_total"
"""Excludes tokens found in the cache; vLLM's counter includes them."""
_SGLANG_ENDED = ("sglang:prompt_tokens_total", "sglang:generation_tokens_total", "sglang:cached_tokens_total")
"""Counted only when an answer has ended."""
_SGLANG_LIVE = "sglang:realtime_tokens_total"
"""Counted with each step, by mode: prefill_compute, prefill_cache and decode."""
_SGLANG_CAPACITY = "sglang:max_total_num_tokens"
_WANTED = (
    *(*_SUMMED.values(), _KV_USED, _FIRST_TOKENS, _CACHE, _STARTED, *_LLAMACPP, _LLAMACPP_READ),
    *(*_SGLANG, *_SGLANG_ENDED, _SGLANG_LIVE, _SGLANG_CAPACITY),
)
_BEFORE_0_19 = ("vllm:gpu_cache_usage_perc", "vllm:time_per_output_token_seconds")

SHORTEST = 0.05
"""Shortest interval in seconds for a rate: arrivals within it are merged."""

Totals = dict[str, list[float]]


@dataclass(frozen=True)
class EngineSample:
    """One reading of an engine's metrics. None means not reported."""

    running: int | None
    waiting: int | None
    kv_used: float | None
    """Share from 0 to 1."""
    prompt_tokens: int | None
    generation_tokens: int | None
    prefix_queries: int | None = None
    """Prompt tokens looked up in the prefix cache."""
    prefix_hits: int | None = None
    preemptions: int | None = None
    drafts: int | None = None
    draft_tokens: int | None = None
    accepted_tokens: int | None = None
    first_tokens: int | None = None
    """Requests that have received their first token."""
    first_token_seconds: float | None = None
    """Total seconds that those requests waited."""
    kv_tokens: int | None = None
    """KV cache capacity. Never computed from blocks: layers of a hybrid model share them unevenly."""
    started: float | None = None
    """Process start time by the engine's clock; a later value means another process."""
    missing: str = ""
    """Sentence that names the expected metrics that are missing."""
    counts_late: bool = False
    """llama.cpp counts an answer's tokens only when the answer has ended."""
    in_flight: int = 0
    """Generated tokens of unfinished answers."""
    reading: int = 0
    """Processed prompt tokens of unfinished answers, which show progress before the first token."""


def parse_metrics(text: str) -> EngineSample:
    found, capacity = _collect_value_lists_and_capacities(text)
    if late := bool(found[_LLAMACPP_READ]):
        _convert_llamacpp_names(found)
    if found["sglang:generation_tokens_total"] or found["sglang:num_running_reqs"]:
        _convert_sglang_names(found)
    sums: dict[str, Any] = {name: _sum_counts(found[metric]) for name, metric in _SUMMED.items()}
    return EngineSample(
        **sums,
        kv_used=_compute_mean(found[_KV_USED]),
        first_token_seconds=sum(found[_FIRST_TOKENS]) if found[_FIRST_TOKENS] else None,
        kv_tokens=_sum_counts(capacity),
        started=max(found[_STARTED], default=None),
        missing=_explain_missing_metrics(text, found),
        counts_late=late,
    )


def merge_samples(samples: Sequence[EngineSample]) -> EngineSample:
    """Combine the samples of several servers into one."""
    sums: dict[str, Any] = {}
    for name in (*_SUMMED, "kv_tokens", "first_token_seconds"):
        known = [value for one in samples if (value := getattr(one, name)) is not None]
        sums[name] = sum(known) if known else None
    return EngineSample(
        **sums,
        kv_used=_compute_mean([one.kv_used for one in samples if one.kv_used is not None]),
        started=max((one.started for one in samples if one.started), default=None),
        missing=next((one.missing for one in samples if one.missing), ""),
    )


def include_running_answers(before: EngineSample | None, sample: EngineSample) -> EngineSample:
    """Return `sample` with the tokens of unfinished answers added.

    An answer that has just ended may be missing from both counts in one sample, so the total never falls."""
    if not sample.counts_late or sample.generation_tokens is None:
        return sample
    tokens = sample.generation_tokens + sample.in_flight
    if before and before.counts_late and sample.generation_tokens >= (before.generation_tokens or 0) - before.in_flight:
        tokens = max(tokens, before.generation_tokens or 0)
    return replace(sample, generation_tokens=tokens, in_flight=tokens - sample.generation_tokens)


def compute_rate(previous: float | None, current: float | None, seconds: float) -> float | None:
    """Return a counter's growth per second, or None over less than SHORTEST, where a burst would distort it."""
    grown = compute_growth(previous, current)
    return None if grown is None or seconds < SHORTEST else grown / seconds


def compute_growth(previous: float | None, current: float | None) -> float | None:
    """Return a counter's increase. A counter that fell was reset to 0 by a restart."""
    if previous is None or current is None:
        return None
    return current - previous if current >= previous else current


def _collect_value_lists_and_capacities(text: str) -> tuple[Totals, list[float]]:
    found: Totals = defaultdict(list)
    capacity = []
    for name, labels, value in _iterate_wanted_samples(text):
        if name == _CACHE:
            capacity += [size] if (size := _parse_number(labels.get("kv_cache_size_tokens", ""))) is not None else []
        elif name.startswith("sglang:") and _repeats_first_rank(labels):
            continue
        elif name == _SGLANG_CAPACITY:
            capacity.append(value)
        elif name == _SGLANG_LIVE:
            found[f"{name} {labels.get('mode', '')}"].append(value)
        else:
            found[name].append(value)
    return found, capacity


def _convert_llamacpp_names(totals: Totals) -> None:
    for theirs, ours in _LLAMACPP.items():
        totals[ours] = totals[theirs]
    looked_up = [*totals[_LLAMACPP_READ], *totals["llamacpp:prompt_tokens_cached_total"]]
    totals["vllm:prompt_tokens_total"] = totals["vllm:prefix_cache_queries_total"] = looked_up


def _convert_sglang_names(totals: Totals) -> None:
    """Prefer the counters that grow while an answer is written; before the first step they do not exist."""
    for theirs, ours in _SGLANG.items():
        totals[ours] = totals[theirs]
    live = {mode: sum(totals[f"{_SGLANG_LIVE} {mode}"]) for mode in ("prefill_compute", "prefill_cache", "decode")}
    prompt, generated, cached = (sum(totals[name]) for name in _SGLANG_ENDED)
    read = max(live["prefill_compute"] + live["prefill_cache"], prompt)
    totals["vllm:prompt_tokens_total"] = totals["vllm:prefix_cache_queries_total"] = [read]
    totals["vllm:prefix_cache_hits_total"] = [max(live["prefill_cache"], cached)]
    totals["vllm:generation_tokens_total"] = [max(live["decode"], generated)]


def _repeats_first_rank(labels: dict[str, str]) -> bool:
    """Return True for the counts of another tensor-parallel rank, which does the same requests over again."""
    return labels.get("tp_rank", "0") != "0" and not labels.get("dp_rank")


def _iterate_wanted_samples(text: str) -> Iterator[tuple[str, dict[str, str], float]]:
    """Yield the wanted metrics with finite values; parsing the histograms too would take ten times as long."""
    for line in text.split("\n"):
        if not line.startswith(_WANTED):
            continue
        try:
            for family in text_string_to_metric_families(line + "\n"):
                for one in family.samples:
                    if one.name in _WANTED and 0 <= one.value < float("inf"):
                        yield one.name, one.labels, one.value
        except (ValueError, KeyError, IndexError):
            continue  # a truncated line, or not Prometheus text


def _explain_missing_metrics(text: str, totals: Totals) -> str:
    if totals["vllm:generation_tokens_total"] and totals["vllm:num_requests_running"]:
        return ""
    if any(name in text for name in _BEFORE_0_19):
        return "its metrics have the names of a vLLM before 0.19: upgrade it"
    if "vllm:" in text:
        return "its metrics lack requests running or tokens generated: was it started with --disable-log-stats?"
    return "its metrics are neither vLLM's, llama.cpp's nor SGLang's: check metrics_urls"


def _parse_number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _sum_counts(values: list[float]) -> int | None:
    return round(sum(values)) if values else None


def _compute_mean(shares: list[float]) -> float | None:
    """Return the overall share: the pools of data-parallel engines and of replicas have equal size."""
    return sum(shares) / len(shares) if shares else None
