"""The words that a newcomer meets, and what each means: pages and documents explain them from one list."""

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path


@functools.cache
def glossary() -> Mapping[str, str]:
    """Word to its sentence, in the order in which a newcomer meets them."""
    told = tomllib.loads((Path(__file__).parent / "glossary.toml").read_text())
    return {term["word"]: term["says"] for term in told["term"]}
