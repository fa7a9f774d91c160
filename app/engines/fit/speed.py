"""Maximum speed of one stream by memory bandwidth, without and with speculation."""

from app.engines.fit.reading import GB, count_kv_bytes, count_weight_bytes
from app.engines.fit.reckoned import Estimate
from app.engines.fit.setting import GIB, ResolvedSettings
from app.lineups.model import Speculation


def count_bytes_per_token(setting: ResolvedSettings) -> float:
    return count_weight_bytes(setting.shape, setting.precision, setting.split, setting.rules)


def estimate_speed_limit(setting: ResolvedSettings) -> Estimate:
    weights, length = count_bytes_per_token(setting), setting.max_model_len
    cache = count_kv_bytes(setting.shape, setting.split, setting.kv_element, length)
    late = setting.bandwidth_gb_s * GB / (weights + cache)
    return Estimate(
        setting.bandwidth_gb_s * GB / weights,
        "derived",
        f"{setting.bandwidth_gb_s:g} GB/s ÷ {weights / GB:.2f} GB of weights read per token and GPU. "
        f"After {length:,} tokens the KV cache adds {cache / GB:.2f} GB: {late:.1f} tok/s",
    )


def estimate_speculative_limit(setting: ResolvedSettings) -> Estimate:
    drafting = setting.speculation
    if drafting is None:
        return Estimate(None, "unsupported", "the line-up names no speculation")
    rounds = _compute_rounds_per_second(setting, drafting)
    passes = "once" if drafting.parallel_drafting else f"{drafting.tokens} times"
    words = (
        f"each round reads the weights once and the drafter's {drafting.weights_gib:.2f} GiB {passes}: "
        f"from {rounds:.1f} tok/s, nothing accepted, to {rounds * (drafting.tokens + 1):.1f}, all accepted"
    )
    if drafting.acceptance is None:
        return Estimate(None, "unsupported", f"{words}; the line-up gives no mean acceptance length")
    accepted = min(max(1.0, drafting.acceptance), drafting.tokens + 1)
    where = f" ({drafting.source})" if drafting.source else ""
    return Estimate(rounds * accepted, "estimated", f"{words}; {accepted:g} tokens a round{where}")


def _compute_rounds_per_second(setting: ResolvedSettings, drafting: Speculation) -> float:
    passes = 1 if drafting.parallel_drafting else drafting.tokens
    drafter = drafting.weights_gib * GIB / setting.split.tp * passes
    return setting.bandwidth_gb_s * GB / (count_bytes_per_token(setting) + drafter)
