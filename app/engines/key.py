"""API keys of engines, read from the environment at each use and never stored."""

import os
from collections.abc import Mapping

from app.lineups.model import Engine


def read_api_key(engine: Engine, environment: Mapping[str, str] = os.environ) -> str:
    return environment.get(engine.api_key_env, "") if engine.api_key_env else ""
