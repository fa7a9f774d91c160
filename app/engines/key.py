"""The key of an engine's base URLs: in the environment, read where it is used, kept nowhere."""

import os
from collections.abc import Mapping

from app.lineups.model import Engine


def key_of(engine: Engine, environment: Mapping[str, str] = os.environ) -> str:
    return environment.get(engine.api_key_env, "") if engine.api_key_env else ""
