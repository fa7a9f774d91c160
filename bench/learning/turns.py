"""Turns to train on: those of attempts that scanner, probes and second check all passed, as the engine's own tokens.

Of a Sentry's, also those of attempts that failed, where it said what the probes found.

    python bench/learning/turns.py TURNS.npz --tokens http://127.0.0.1:8080 g1.part d1/score g2.part d2/score
    python bench/learning/turns.py MORE.npz --beside TURNS.npz --tokens http://127.0.0.1:8080 g3.part d3/score

Each .part has the trials of a `temper score` that was cut off, and behind it comes the data folder that it worked in.
A solver may propose anything; only what was verified is taken. TURNS.npz has each turn's tokens, which of them are the
answer's, which of these are no part of a sentence, and the fold of its rule: rules of one family are in one fold, so
that a family can be held out whole.
--tokens names a llama.cpp server with the model: its chat template and its tokens are the ones that count.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

import httpx
import msgspec
import numpy as np
from numpy.typing import NDArray

from app.events.kinds import Event, ItemPassed, SentryProbed, TurnFinished, TurnStarted
from app.scores.score_structures import Trial
from app.skills.stig.pack import load_rules_by_part
from app.store.db import open_and_migrate_database
from app.store.events import EventStore

FOLDS = (("ssh", "crypto"), ("passwords", "accounts"), ("sudo", "audit", "system"))
FOLD = {
    rule.id: number for number, family in enumerate(FOLDS) for part in family for rule in load_rules_by_part()[part]
}
END = "<|im_end|>"
_SENTENCE = re.compile(r'"(?:approach|explanation|assessment|mechanism|advice)": ?"((?:[^"\\]|\\.)*)"')
"""Free text. Nothing verifies it, and by chance it is the prompt's own."""
MOST_OF_A_RULE = {"plan": 40, "act": 60, "review": 15, "triage": 30}
"""Turns of one rule: what is hit upon easily is not to drown the rest."""


@dataclass(frozen=True)
class VerifiedTurn:
    rule: str
    purpose: str
    prompt: tuple[str, str]
    answer: str


def sound(notes: Path) -> set[str]:
    """Runs of trials that no check of the score has anything against, whether their rule was fixed or not."""
    trials = [msgspec.json.decode(line, type=Trial) for line in notes.read_bytes().splitlines()[1:]]
    ill = [one for one in trials if one.worse or one.weakened or one.left or one.broken]
    gamed = [one for one in trials if any(fate.ended == "passed" and not fate.met for fate in one.fates)]
    return {one.run for one in trials} - {one.run for one in (*ill, *gamed)}


def verified(notes: Path, data: Path) -> Iterator[VerifiedTurn]:
    database = open_and_migrate_database(data / "temper.sqlite")
    store = EventStore(database)
    for run in sorted(sound(notes)):
        yield from _of_run([one.event for one in store.read_events(run)])
    database.dispose()


def _of_run(events: list[Event]) -> Iterator[VerifiedTurn]:
    """Of what was asked more than once in an attempt, the last: what came before was refused."""
    passed = {(one.rule, one.attempts) for one in events if isinstance(one, ItemPassed)}
    asked: dict[str, TurnStarted] = {}
    last: dict[tuple[str, int, str], VerifiedTurn] = {}
    harmed = False
    for one in events:
        match one:
            case SentryProbed(probes=probes, ailing=ailing):
                harmed = any(not probe.ok and probe.name not in ailing for probe in probes)
            case TurnStarted(turn=turn):
                asked[turn] = one
            case TurnFinished(turn=turn, outcome="answered", answer=answer) if turn in asked:
                begun = asked[turn]
                made = VerifiedTurn(begun.rule, begun.purpose, begun.prompt, answer)
                if begun.purpose != "triage":
                    last[begun.rule, begun.attempt, begun.purpose] = made
                elif _alarm(answer) == harmed:
                    yield made
    yield from (turn for (rule, attempt, _), turn in last.items() if (rule, attempt) in passed)


def _alarm(answer: str) -> bool:
    return bool(json.loads(answer).get("alarm"))


def chosen(found: list[VerifiedTurn]) -> list[VerifiedTurn]:
    """Of each prompt the shortest answer, so that nothing is said that was not needed; of each rule not too many."""
    ordered = sorted(found, key=lambda turn: (turn.prompt, len(turn.answer), turn.answer))
    shortest: dict[tuple[str, tuple[str, str]], VerifiedTurn] = {}
    for one in ordered:
        shortest.setdefault((one.rule, one.prompt), one)
    mixed = list(shortest.values())
    Random(1).shuffle(mixed)
    counts: Counter[tuple[str, str]] = Counter()
    kept = []
    for one in mixed:
        counts[one.rule, one.purpose] += 1
        if counts[one.rule, one.purpose] <= MOST_OF_A_RULE.get(one.purpose, 0):
            kept.append(one)
    return kept


@dataclass(frozen=True)
class Tokens:
    """Of one turn, and of each whether it is the answer's, and whether something is chosen with it."""

    ids: list[int]
    said: list[int]
    chosen: list[int]


class Tokenizer:
    def __init__(self, base: str) -> None:
        self._http = httpx.Client(base_url=base, timeout=60)

    def of(self, turn: VerifiedTurn) -> Tokens:
        messages = [{"role": role, "content": text} for role, text in zip(("system", "user"), turn.prompt, strict=True)]
        prompt = [one["id"] for one in self._tokens(self._ask("/apply-template", {"messages": messages})["prompt"])]
        answer = self._tokens(turn.answer + END)
        before = [0] * len(prompt)
        chosen = [*before, *_outside_sentences(turn.answer, [_size(one["piece"]) for one in answer])]
        return Tokens([*prompt, *(one["id"] for one in answer)], [*before, *[1] * len(answer)], chosen)

    def _tokens(self, text: str) -> list[dict[str, Any]]:
        asked = {"content": text, "parse_special": True, "with_pieces": True}
        found: list[dict[str, Any]] = self._ask("/tokenize", asked)["tokens"]
        return found

    def _ask(self, path: str, body: dict[str, object]) -> Any:
        answer = self._http.post(path, json=body)
        answer.raise_for_status()
        return answer.json()


def _size(piece: str | list[int]) -> int:
    """In bytes; half a character comes as a list of them."""
    return len(piece) if isinstance(piece, list) else len(piece.encode())


def _outside_sentences(answer: str, sizes: list[int]) -> list[int]:
    """1 for each token that has no byte of a sentence."""
    inside = [tuple(len(answer[:at].encode()) for at in match.span(1)) for match in _SENTENCE.finditer(answer)]
    ends = list(accumulate(sizes))
    spans = zip((0, *ends), ends, strict=False)
    return [int(not any(begin < last and end > first for first, last in inside)) for begin, end in spans]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("of", type=Path, nargs="+", help="NOTES DATA, of each score")
    parser.add_argument("--tokens", required=True)
    parser.add_argument("--beside", type=Path, help="turns from before, which are taken over as they are")
    given = parser.parse_args()
    found = [turn for notes, data in zip(given.of[::2], given.of[1::2], strict=True) for turn in verified(notes, data)]
    turns = chosen(found)
    tokenizer = Tokenizer(given.tokens)
    laid = [tokenizer.of(turn) for turn in turns]
    made: dict[str, NDArray[Any]] = {
        "tokens": np.array([token for one in laid for token in one.ids], np.uint16),
        "answers": np.array([said for one in laid for said in one.said], np.uint8),
        "choices": np.array([chosen for one in laid for chosen in one.chosen], np.uint8),
        "lengths": np.array([len(one.ids) for one in laid], np.int32),
        "folds": np.array([FOLD[turn.rule] for turn in turns], np.int8),
    }
    before: Mapping[str, NDArray[Any]] = np.load(given.beside) if given.beside else {}
    parts = {name: np.concatenate((before[name], part)) if before else part for name, part in made.items()}
    with given.out.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **parts)
    told: dict[str, object] = {"found": len(found), "turns": len(turns), "tokens": sum(len(one.ids) for one in laid)}
    told |= {"beside": len(parts["lengths"]) - len(laid)}
    told |= {"of_answers": sum(sum(one.said) for one in laid), "of_choices": sum(sum(one.chosen) for one in laid)}
    told |= {"rules": dict(Counter(turn.rule for turn in turns)), "purposes": dict(Counter(t.purpose for t in turns))}
    print(json.dumps(told, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
