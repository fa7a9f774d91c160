"""Turns to train on: those of attempts that scanner, Auditor, Sentry and probes all passed, as the engine's own tokens.

Of a Sentry's, also those of attempts that failed, where it said what the probes found.

    python bench/learning/turns.py TURNS.npz --tokens http://127.0.0.1:8080 data/*/

A solver may propose anything; only what was verified is taken. TURNS.npz has each turn's tokens, which of them are the
answer's, and the fold of its rule: rules of one family are in one fold, so that a family can be held out whole.
--tokens names a llama.cpp server with the model: its chat template and its tokens are the ones that count.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from sqlmodel import Session, select

from app.events.kinds import ItemPassed, SentryProbed, TurnFinished, TurnStarted
from app.skills.stig import accounts, audit, passwords, ssh, sudo, system
from app.store.db import open_database
from app.store.events import EventStore
from app.store.models import RunRow

FOLDS = ((ssh,), (passwords, accounts), (sudo, audit, system))
FOLD = {rule.id: number for number, family in enumerate(FOLDS) for module in family for rule in module.RULES}
END = "<|im_end|>"
MOST_OF_A_RULE = {"plan": 60, "act": 150, "review": 20, "triage": 40}
"""Turns of one rule: what is hit upon easily is not to drown the rest."""


@dataclass(frozen=True)
class VerifiedTurn:
    rule: str
    purpose: str
    prompt: tuple[str, str]
    answer: str


def verified(data: Path) -> Iterator[VerifiedTurn]:
    database = open_database(data / "temper.sqlite")
    store = EventStore(database)
    with Session(database) as session:
        runs = [row.id for row in session.exec(select(RunRow)).all()]
    for run in runs:
        events = list(store.events(run))
        passed = {(one.event.rule, one.event.attempts) for one in events if isinstance(one.event, ItemPassed)}
        asked: dict[str, TurnStarted] = {}
        harmed = False
        for one in events:
            match one.event:
                case SentryProbed(probes=probes, ailing=ailing):
                    harmed = any(not probe.ok and probe.name not in ailing for probe in probes)
                case TurnStarted(turn=turn):
                    asked[turn] = one.event
                case TurnFinished(turn=turn, outcome="answered", answer=answer) if turn in asked:
                    begun = asked[turn]
                    held = (begun.rule, begun.attempt) in passed
                    if _alarm(answer) == harmed if begun.purpose == "triage" else held:
                        yield VerifiedTurn(begun.rule, begun.purpose, begun.prompt, answer)
    database.dispose()


def _alarm(answer: str) -> bool:
    return bool(json.loads(answer).get("alarm"))


def chosen(found: list[VerifiedTurn]) -> list[VerifiedTurn]:
    """Each once, the shortest answers first."""
    counts: Counter[tuple[str, str]] = Counter()
    kept = []
    for one in sorted(set(found), key=lambda turn: (len(turn.answer), turn.prompt, turn.answer)):
        counts[one.rule, one.purpose] += 1
        if counts[one.rule, one.purpose] <= MOST_OF_A_RULE.get(one.purpose, 0):
            kept.append(one)
    return kept


class Tokens:
    def __init__(self, base: str) -> None:
        self._http = httpx.Client(base_url=base, timeout=60)

    def of(self, turn: VerifiedTurn) -> tuple[list[int], list[int]]:
        messages = [{"role": role, "content": text} for role, text in zip(("system", "user"), turn.prompt, strict=True)]
        prompt = self._ask("/apply-template", {"messages": messages})["prompt"]
        return self._tokens(prompt), self._tokens(turn.answer + END)

    def _tokens(self, text: str) -> list[int]:
        found: list[int] = self._ask("/tokenize", {"content": text, "parse_special": True})["tokens"]
        return found

    def _ask(self, path: str, body: dict[str, object]) -> Any:
        answer = self._http.post(path, json=body)
        answer.raise_for_status()
        return answer.json()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--tokens", required=True)
    given = parser.parse_args()
    turns = chosen([turn for data in given.data for turn in verified(data)])
    tokens = Tokens(given.tokens)
    pairs = [tokens.of(turn) for turn in turns]
    flat = [token for prompt, answer in pairs for token in (*prompt, *answer)]
    mask = [said for prompt, answer in pairs for said in (*[0] * len(prompt), *[1] * len(answer))]
    np.savez_compressed(
        given.out,
        tokens=np.array(flat, np.uint16),
        answers=np.array(mask, np.uint8),
        lengths=np.array([len(prompt) + len(answer) for prompt, answer in pairs], np.int32),
        folds=np.array([FOLD[turn.rule] for turn in turns], np.int8),
    )
    told = {"turns": len(turns), "tokens": len(flat), "of_answers": sum(mask)}
    told |= {"rules": dict(Counter(turn.rule for turn in turns)), "purposes": dict(Counter(t.purpose for t in turns))}
    print(json.dumps(told, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
