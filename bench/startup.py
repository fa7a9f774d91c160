"""CPU of asking the command line for help, against the floor: a Python that imports typer and rich and does nothing."""

import os
import statistics
import subprocess
import sys

ROUNDS = 9
ASKED = {
    "floor: import typer, rich": ["-c", "import typer, rich"],
    "temper --help": ["-m", "app", "--help"],
    "temper run --help": ["-m", "app", "run", "--help"],
}


def seconds(words: list[str]) -> float:
    before = os.times()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


measured = {name: [] for name in ASKED}
for _ in range(ROUNDS):
    for name, words in ASKED.items():
        measured[name].append(seconds(words))
floor = statistics.median(next(iter(measured.values())))
for name, taken in measured.items():
    middle = statistics.median(taken)
    print(f"{name:28} {middle * 1000:6.0f} ms of CPU   {middle / floor:4.1f} times the floor")
