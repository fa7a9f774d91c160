"""Completed cold starts of this machine, from which ETAs are estimated."""

import json
from pathlib import Path

from app.engines.coldstart import ColdStart, CompletedLoad
from app.lineups.model import Engine


class LoadHistory:
    def __init__(self, path: Path) -> None:
        self._path = path

    def list_loads(self, engine: Engine) -> list[CompletedLoad]:
        """Return loads of comparable engines, oldest first."""
        try:
            lines = self._path.read_text().splitlines()
        except OSError:
            return []
        rows = [
            row
            for line in lines
            if isinstance(row := _parse_row(line), dict) and row.get("like") == _build_load_key(engine)
        ]
        return [CompletedLoad(row["seconds"], row["steps"]) for row in rows]

    def add(self, engine: Engine, cold: ColdStart, seconds: float) -> None:
        steps = {step.name: step.at for step in cold.steps}
        row = {"like": _build_load_key(engine), "at": cold.started, "seconds": round(seconds, 1), "steps": steps}
        with self._path.open("a") as file:
            file.write(json.dumps({**row, "engine": engine.name, "vllm": cold.version}) + "\n")


def _build_load_key(engine: Engine) -> str:
    return f"{engine.model} {engine.precision} tp={engine.tp} pp={engine.pp} eager={engine.eager}"


def _parse_row(line: str) -> object:
    """Parse one line; return None if a crash truncated it."""
    try:
        return json.loads(line)
    except ValueError:
        return None
