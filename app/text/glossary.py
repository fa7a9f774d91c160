"""The glossary of pages and documents."""

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path


@functools.cache
def load_glossary() -> Mapping[str, str]:
    """Return each word with its explanation, in reading order."""
    told = tomllib.loads((Path(__file__).parent / "glossary.toml").read_text())
    return {term["word"]: term["says"] for term in told["term"]}
