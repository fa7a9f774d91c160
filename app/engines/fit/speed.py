"""Maximum speed of one stream by memory bandwidth, without and with speculation."""

from app.engines.fit.reading import GB, kv_read, weights_read
from app.engines.fit.reckoned import Reckoned
from app.engines.fit.setting import GIB, FitSetting
from app.lineups.model import Speculation


def bytes_per_token(setting: FitSetting) -> float:
    return weights_read(setting.shape, setting.precision, setting.split, setting.rules)


def limit(setting: FitSetting) -> Reckoned:
    weights, length = bytes_per_token(setting), setting.max_model_len
    cache = kv_read(setting.shape, setting.split, setting.kv_element, length)
    late = setting.bandwidth_gb_s * GB / (weights + cache)
    return Reckoned(
        setting.bandwidth_gb_s * GB / weights,
        "derived",
        f"{setting.bandwidth_gb_s:g} GB/s ÷ {weights / GB:.2f} GB of weights read per token and GPU. "
        f"After {length:,} tokens the KV cache adds {cache / GB:.2f} GB: {late:.1f} tok/s",
    )


def limit_with_speculation(setting: FitSetting) -> Reckoned:
    drafting = setting.speculation
    if drafting is None:
        return Reckoned(None, "unsupported", "the line-up names no speculation")
    rounds = _rounds_per_second(setting, drafting)
    passes = "once" if drafting.parallel_drafting else f"{drafting.tokens} times"
    words = (
        f"each round reads the weights once and the drafter's {drafting.weights_gib:.2f} GiB {passes}: "
        f"from {rounds:.1f} tok/s, nothing accepted, to {rounds * (drafting.tokens + 1):.1f}, all accepted"
    )
    if drafting.acceptance is None:
        return Reckoned(None, "unsupported", f"{words}; the line-up gives no mean acceptance length")
    accepted = min(max(1.0, drafting.acceptance), drafting.tokens + 1)
    where = f" ({drafting.source})" if drafting.source else ""
    return Reckoned(rounds * accepted, "estimated", f"{words}; {accepted:g} tokens a round{where}")


def _rounds_per_second(setting: FitSetting, drafting: Speculation) -> float:
    passes = 1 if drafting.parallel_drafting else drafting.tokens
    drafter = drafting.weights_gib * GIB / setting.split.tp * passes
    return setting.bandwidth_gb_s * GB / (bytes_per_token(setting) + drafter)
