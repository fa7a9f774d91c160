"""python -m tests.differential sshd --count 10000: as many trials as there is time for, of one program."""

import argparse
import importlib
import sys

from tests.differential.harness import tally

MOST_SHOWN = 20


def main() -> int:
    """A module test_<program>.py has its trials in TRIALS, by name."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential")
    parser.add_argument("program", nargs="+")
    parser.add_argument("--count", type=int, default=10_000, help="trials of each kind")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    wrong = 0
    for program in given.program:
        for name, trial in importlib.import_module(f"tests.differential.test_{program}").TRIALS.items():
            found = tally(trial, given.count, given.seed)
            wrong += len(found.differences)
            told = f"{found.ran} ran, {found.refused} of them refused by the program, {len(found.differences)} differ"
            sys.stdout.write("\n".join([f"{program}: {name}: {told}", *found.differences[:MOST_SHOWN], ""]))
            sys.stdout.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
