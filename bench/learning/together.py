"""Puts the trials of several scores of one line-up together, as if one process had played them all.

    python bench/learning/together.py OUT.part a.part b.part

`temper score LINEUP --out OUT.json` then has nothing left to play, and signs. It prints how many seeds were played to
their end for every rule of any; the trials of a seed that was cut off are left out.
"""

import sys
from pathlib import Path

import msgspec

from app.scores.result import ScoreOrder, Trial


def main(out: Path, parts: list[Path]) -> int:
    orders, trials = [], []
    for part in parts:
        head, *lines = part.read_bytes().splitlines()
        orders.append(msgspec.json.decode(head, type=ScoreOrder))
        trials += [msgspec.json.decode(line, type=Trial) for line in lines]
    rules = tuple(dict.fromkeys(rule for order in orders for rule in order.rules))
    seeds = min(sum(rule in one.rules for one in trials) for rule in rules)
    whole = msgspec.structs.replace(orders[0], rules=rules, seeds=seeds)
    kept = [one for one in trials if one.seed <= seeds]
    out.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in (whole, *kept)))
    sys.stdout.write(f"{seeds} {','.join(rules)}\n")
    return 0 if seeds else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), [Path(part) for part in sys.argv[2:]]))
