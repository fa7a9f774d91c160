"""Split a log of vLLM or llama.cpp into boots, since a restarted container continues the same file."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from app.engines.cold_start_progress import ColdStart, apply_log_line
from app.engines.doctor.fatal_lines import FatalCause, match_fatal_line
from app.errors import BadInput
from app.text.clean import clean_text

LONGEST = 4000
"""Longest line read; the flags of a start take about 2,000 characters."""
_VLLM = re.compile(
    r"\((?:APIServer|EngineCore|Worker)\w* pid=\d+\)|Initializing a V1 LLM engine|vLLM API server version"
    r"|llama\.cpp (?:starts|serves|does not start)|srv +(?:init|load_model): "
    r"|non-default args: \{|No module named 'vllm|File \S+/vllm/|^usage: vllm|\bvllm: error: "
)
_FLAGS = re.compile(r"non-default args: (\{.*)")
_BEGINS = re.compile(r"Initializing a V1 LLM engine|llama\.cpp starts ")
_UP = re.compile(r"Application startup complete|llama\.cpp serves ")
_ACCEPTED = re.compile(r"Avg Draft acceptance rate: (\d+(?:\.\d+)?)%")
_MARKS = {
    "gemma4": re.compile(r"Resolved architecture: Gemma4|Gemma4 model has heterogeneous head"),
    "marlin": re.compile(r"Using Marlin\w*Kernel for NVFP4|does not have native support for FP4"),
    "nvfp4-experimental": re.compile(r"Detected ModelOpt NVFP4 checkpoint"),
    "graphs-not-counted": re.compile(r"CUDA graph memory profiling is disabled"),
    "chat-template-failed": re.compile(r"[Cc]hat template (?:warmup failed|rejected the request)"),
}


@dataclass
class Boot:
    flags: str = ""
    """Flags as a printed Python dict."""
    version: str = ""
    step: str = ""
    up: bool = False
    cause: FatalCause | None = None
    at: int = 0
    """Line number of the cause."""
    served: bool = False
    """The engine was up when the cause was logged."""
    marks: set[str] = field(default_factory=set)
    accepted: list[float] = field(default_factory=list)
    """Logged acceptance rates, in per cent of drafted tokens."""

    def get_flag(self, name: str) -> str:
        found = re.search(rf"'{name}': \[?(?:'([^']*)'|([\w.]+))", self.flags)
        return (found[1] or found[2] or "") if found else ""

    def starts_new_boot(self, line: str) -> bool:
        over = self.up or self.cause is not None
        return bool((_FLAGS.search(line) and (over or self.flags)) or (_BEGINS.search(line) and over))

    def add_line(self, number: int, line: str) -> None:
        cold = apply_log_line(ColdStart(0.0), line, 0.0)
        self.step = cold.newest if cold.steps else self.step
        self.version = cold.version or self.version
        self.up = self.up or _UP.search(line) is not None
        if self.cause is None and (cause := match_fatal_line(line)):
            self.cause, self.at, self.served = cause, number, self.up
        if found := _FLAGS.search(line):
            self.flags = found[1]
        if found := _ACCEPTED.search(line):
            self.accepted.append(float(found[1]))
        self.marks |= {name for name, pattern in _MARKS.items() if pattern.search(line)}


def read_boots(lines: Iterable[str], name: str) -> tuple[Boot, ...]:
    """Parse a log into boots. Raise BadInput if it is empty or of another program; `name` is used in that message."""
    boots, ours, number = [Boot()], False, 0
    for number, raw in enumerate(lines, start=1):
        line = clean_text(raw.rstrip("\n").rsplit("\r", 1)[-1], LONGEST)
        ours = ours or _VLLM.search(line) is not None
        if boots[-1].starts_new_boot(line):
            boots.append(Boot())
        boots[-1].add_line(number, line)
    if not number:
        raise BadInput(f"{name} is empty: give the log that vLLM wrote.")
    if not ours:
        raise BadInput(f"{name} is a log of another program: none of its {number:,} lines is from vLLM or llama.cpp.")
    return tuple(boots)
