"""An engine's cold start from its log: steps, times and figures. Earlier loads tell how long it takes."""

import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from statistics import median

import msgspec

from app.lineups.model import Engine

log = logging.getLogger(__name__)

_STAMP = re.compile(r"(?:INFO|WARNING|ERROR) (\d\d-\d\d \d\d:\d\d:\d\d)")
_TEXT = re.compile(r"(?:INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d \[[^\]]*\] ?(.*)$")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")

_NUMBER = r"([\d,]+(?:\.\d+)?)"


class _StepLine(msgspec.Struct):
    name: str
    line: str
    unit: str = ""


_STEP_LINES = msgspec.toml.decode(
    Path(__file__).with_name("cold_start_steps.toml").read_bytes(), type=dict[str, tuple[_StepLine, ...]]
)["step"]
_STEPS = tuple((step.name, re.compile(step.line.replace("{NUMBER}", _NUMBER))) for step in _STEP_LINES)
_UNITS = {step.name: step.unit for step in _STEP_LINES if step.unit}
_PROGRESS = re.compile(r"(Loading safetensors checkpoint shards|Capturing CUDA graphs[^:]*): +(\d+)%")
_MOST_LOADS = 5


@dataclass(frozen=True)
class ColdStartStep:
    name: str
    at: float
    """Seconds from the start."""
    figure: float | None

    @property
    def figure_text(self) -> str:
        """The figure with its unit, or an empty string if the step has none."""
        unit = _UNITS.get(self.name)
        return f"{self.figure:,.12g} {unit}" if unit and self.figure is not None else ""


@dataclass(frozen=True)
class ColdStart:
    """The state of a cold start after the log lines read so far."""

    started: float
    """Unix time."""
    steps: tuple[ColdStartStep, ...] = ()
    version: str = ""
    newest: str = ""

    def find_figure(self, name: str) -> float | None:
        return next((step.figure for step in self.steps if step.name == name), None)


def apply_log_line(cold: ColdStart, line: str, now: float) -> ColdStart:
    """Return `cold` with one log line applied. The first rank to report a step counts, by the line's own timestamp."""
    plain = _ANSI.sub("", line).rsplit("\r", 1)[-1]
    reached = {step.name for step in cold.steps}
    found = {name: match[1] for name, pattern in _STEPS if name not in reached and (match := pattern.search(plain))}
    if found:
        at = round(max(0.0, parse_timestamp_or_now(plain, now) - cold.started), 1)
        steps = tuple(
            ColdStartStep(name, at, _parse_number_with_thousands_commas(said)) for name, said in found.items()
        )
        version = found.get("engine starts", cold.version)
        return replace(cold, steps=(*cold.steps, *steps), version=version, newest=steps[-1].name)
    if progress := _PROGRESS.search(plain):
        return replace(cold, newest=f"{progress[1]}: {progress[2]} %")
    text = _TEXT.search(plain)
    return replace(cold, newest=text[1][:160]) if text and text[1].strip() else cold


def parse_timestamp_or_now(line: str, now: float) -> float:
    """Return the line's Unix time, or `now` without a valid timestamp. vLLM logs local time without the year."""
    if not (found := _STAMP.search(line)):
        return now
    here = datetime.fromtimestamp(now).astimezone()
    try:
        at = datetime.strptime(f"{here.year}-{found[1]}", "%Y-%m-%d %H:%M:%S").replace(tzinfo=here.tzinfo)
    except ValueError:  # 02-29 of another year, or no date
        return now
    return at.timestamp() if at.timestamp() <= now + 1 else now


def _parse_number_with_thousands_commas(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


@dataclass(frozen=True)
class CompletedLoad:
    """An earlier cold start on this machine that completed."""

    seconds: float
    steps: dict[str, float] = field(default_factory=dict)


def estimate_share_and_time_left(
    cold: ColdStart, earlier: Sequence[CompletedLoad], now: float
) -> tuple[float | None, float | None]:
    """Return the completed share and the seconds left, by the median of earlier loads; (None, None) without any."""
    recent = earlier[-_MOST_LOADS:]
    if not recent:
        return None, None
    whole = median(load.seconds for load in recent)
    reached = cold.steps[-1].name if cold.steps else ""
    before = [load.steps[reached] for load in recent if reached in load.steps]
    elapsed = now - cold.started
    # A late step delays all later ones.
    left = whole - median(before) - (elapsed - cold.steps[-1].at) if before else whole - elapsed
    left = max(0.0, left)
    return round(min(0.99, elapsed / (elapsed + left)) if elapsed + left > 0 else 0.99, 3), round(left, 1)


class LoadHistory:
    """File of completed cold starts on this machine."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def list_comparable_loads(self, engine: Engine) -> list[CompletedLoad]:
        """Return loads of comparable engines, oldest first."""
        try:
            lines = self._path.read_text().splitlines()
        except OSError:
            return []
        rows = [row for row in map(_parse_row, lines) if isinstance(row, dict)]
        like = _build_load_key(engine)
        return [CompletedLoad(row["seconds"], row["steps"]) for row in rows if row.get("like") == like]

    def add(self, engine: Engine, cold: ColdStart, seconds: float) -> None:
        """Add a load. A full disk costs the next load its estimate, and no more."""
        steps = {step.name: step.at for step in cold.steps}
        row = {"like": _build_load_key(engine), "at": cold.started, "seconds": round(seconds, 1), "steps": steps}
        try:
            with self._path.open("a") as file:
                file.write(json.dumps({**row, "engine": engine.name, "vllm": cold.version}) + "\n")
        except OSError as exc:
            log.warning("the time that %s took to load cannot be kept: %s", engine.name, exc.strerror)


def _build_load_key(engine: Engine) -> str:
    return f"{engine.model} {engine.precision} tp={engine.tp} pp={engine.pp} eager={engine.eager}"


def _parse_row(line: str) -> object:
    """Parse one line; return None if a crash truncated it."""
    try:
        return json.loads(line)
    except ValueError:
        return None
