"""Plan a score's trials and record completed ones; each is on disk before the next begins."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.errors import BadInput
from app.scores.generated_hosts import GeneratedHost, create_builtin_host, generate_host
from app.scores.score_structures import ScoreOrder, Trial

Place = tuple[int, str, tuple[str, ...]]


@dataclass(frozen=True)
class TrialSpec:
    seed: int
    host: GeneratedHost
    rules: tuple[str, ...]

    @property
    def trial_key(self) -> Place:
        return self.seed, self.host.name, self.rules


def plan_trials(order: ScoreOrder, host_generation_seed: str = "") -> Iterator[TrialSpec]:
    """Yield the trials of an order. The first host is the built-in one, unless a held-back seed generates all."""
    rules = [order.rules] if order.together else [(rule,) for rule in order.rules]
    for seed in range(1, order.seeds + 1):
        for number in range(order.hosts):
            plain = number == 0 and not host_generation_seed
            host = create_builtin_host() if plain else generate_host(f"{host_generation_seed}/{seed}", number)
            yield from (TrialSpec(seed, host, chosen) for chosen in rules)


def hash_held_back_seed(seed: str) -> str:
    """Return the digest of a held-back seed, by which the seed can be verified later; empty without a seed."""
    return hashlib.sha256(f"temper held-back hosts {seed}".encode()).hexdigest() if seed else ""


class TrialJournal:
    """File of completed trials, one per line, after a first line with their order."""

    def __init__(self, file: Path, order: ScoreOrder) -> None:
        self._file = file
        self.done: dict[Place, Trial] = {}
        head = msgspec.json.encode(order)
        lines = file.read_bytes().splitlines() if file.exists() else []
        if lines and lines[0] != head:
            raise BadInput(f"{file} belongs to another score: move it away, or choose another --out.")
        for line in lines[1:]:
            try:
                trial = msgspec.json.decode(line, type=Trial)
            except msgspec.DecodeError:
                break  # the line was truncated by a crash: the trial runs again
            self.done[_build_trial_key(trial)] = trial
        self._rewrite_file([head, *map(msgspec.json.encode, self.done.values())])

    def add(self, trial: Trial) -> None:
        self.done[_build_trial_key(trial)] = trial
        with self._file.open("ab") as file:
            file.write(msgspec.json.encode(trial) + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def discard(self) -> None:
        self._file.unlink(missing_ok=True)

    def _rewrite_file(self, lines: list[bytes]) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            new = self._file.with_suffix(".new")
            new.write_bytes(b"".join(line + b"\n" for line in lines))
            new.replace(self._file)
        except OSError as exc:
            raise BadInput(f"{self._file} cannot be written: {exc.strerror}. Choose another place with --out.") from exc


def _build_trial_key(trial: Trial) -> Place:
    return trial.seed, trial.host, trial.rules
