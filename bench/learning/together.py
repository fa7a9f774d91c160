"""Puts the trials of several scores of one line-up together, as if one process had played them all.

    python bench/learning/together.py OUT.part a.json b.part

`temper score LINEUP --out OUT.json` then has nothing left to play, and signs. On the built-in host a seed is no more
than a number: the trials of a rule are numbered anew, in the order in which they are found. It prints how many there
are of every rule; what a rule has more than another is left out.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from app.scores.score_structures import ScoreOrder, SignedScore, Trial


def read(part: Path) -> tuple[ScoreOrder, list[Trial]]:
    """A score that is finished, or the notes of one that was cut off."""
    if part.suffix == ".json":
        score = msgspec.json.decode(part.read_bytes(), type=SignedScore).score
        return score.order, list(score.trials)
    head, *lines = part.read_bytes().splitlines()
    return msgspec.json.decode(head, type=ScoreOrder), [msgspec.json.decode(line, type=Trial) for line in lines]


def numbered(trials: list[Trial]) -> Iterator[Trial]:
    counts: Counter[tuple[str, ...]] = Counter()
    for one in trials:
        counts[one.rules] += 1
        yield msgspec.structs.replace(one, seed=counts[one.rules])


def main(out: Path, parts: list[Path]) -> int:
    found = [read(part) for part in parts]
    orders = [order for order, _ in found]
    trials = list(numbered([trial for _, own in found for trial in own]))
    rules = tuple(dict.fromkeys(rule for order in orders for rule in order.rules))
    seeds = min(sum(rule in one.rules for one in trials) for rule in rules)
    whole = msgspec.structs.replace(orders[0], rules=rules, seeds=seeds)
    kept = [one for one in trials if one.seed <= seeds]
    out.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in (whole, *kept)))
    sys.stdout.write(f"{seeds} {','.join(rules)}\n")
    return 0 if seeds else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), [Path(part) for part in sys.argv[2:]]))
