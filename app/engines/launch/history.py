"""Completed cold starts of this machine, from which ETAs are estimated."""

import json
from pathlib import Path

from app.engines.coldstart import ColdStart, Load
from app.lineups.model import Engine


class History:
    def __init__(self, path: Path) -> None:
        self._path = path

    def loads(self, engine: Engine) -> list[Load]:
        """Return loads of comparable engines, oldest first."""
        try:
            lines = self._path.read_text().splitlines()
        except OSError:
            return []
        rows = [row for line in lines if isinstance(row := _row(line), dict) and row.get("like") == _like(engine)]
        return [Load(row["seconds"], row["steps"]) for row in rows]

    def add(self, engine: Engine, cold: ColdStart, seconds: float) -> None:
        steps = {step.name: step.at for step in cold.steps}
        row = {"like": _like(engine), "at": cold.started, "seconds": round(seconds, 1), "steps": steps}
        with self._path.open("a") as file:
            file.write(json.dumps({**row, "engine": engine.name, "vllm": cold.version}) + "\n")


def _like(engine: Engine) -> str:
    return f"{engine.model} {engine.precision} tp={engine.tp} pp={engine.pp} eager={engine.eager}"


def _row(line: str) -> object:
    """Parse one line; return None if a crash truncated it."""
    try:
        return json.loads(line)
    except ValueError:
        return None
