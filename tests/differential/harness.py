"""Generated files, put before our parsers and before the real program. A trial can be run again by its seed."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from random import Random

Trial = Callable[[Random], list[str] | None]
"""What the two sides differ in, said with the files at hand. None where the program would not take the files at all."""


@dataclass(frozen=True)
class Tally:
    ran: int
    refused: int
    """Of those that ran: files that the program itself would not take, so that there was nothing to compare."""
    differences: tuple[str, ...]


def tally(trial: Trial, count: int, seed: int = 1) -> Tally:
    def one(number: int) -> tuple[str, list[str] | None]:
        name = f"{seed}.{number}"
        return name, trial(Random(name))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(one, range(count)))
    told = [f"seed {name}: {text}" for name, differences in found for text in differences or ()]
    return Tally(count, sum(differences is None for _name, differences in found), tuple(told))
