"""Known fatal lines of engine logs, each with its meaning and a fix."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.engines.llamacpp.gguf_weights_file_lookup import format_llamacpp_install_clause

_MARGIN = 0.95
"""Safety margin: memory fragmentation differs between boots, so a start at the limit succeeds only sometimes."""
_STEP = 16
_ESTIMATED = re.compile(r"estimated maximum model length is ([\d,]+)")


@dataclass(frozen=True)
class FatalCause:
    says: str
    fix: str
    proposes: int | None = None
    """Proposed max_model_len with a safety margin."""


def match_fatal_line(line: str) -> FatalCause | None:
    if found := _ESTIMATED.search(line):
        return _explain_short_cache(int(found[1].replace(",", "")))
    for pattern, says, fix in _load_fatal_lines():
        if found := pattern.search(line):
            words = (found[0][-160:], *found.groups())
            return FatalCause(says.format(*words), fix.format(*words, set_up=format_llamacpp_install_clause()))
    return None


@cache
def _load_fatal_lines() -> tuple[tuple[re.Pattern[str], str, str], ...]:
    lines = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["line"]
    return tuple((re.compile(line["pattern"]), line["says"], line["fix"]) for line in lines)


def _explain_short_cache(most: int) -> FatalCause:
    proposed = int(most * _MARGIN) // _STEP * _STEP
    return FatalCause(
        f"the KV cache holds {most:,} tokens at most, fewer than max_model_len",
        f"set max_model_len = {proposed}, 5 % below the limit (at the limit a start succeeds only sometimes), or free "
        "GPU memory",
        proposed,
    )
