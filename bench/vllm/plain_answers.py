"""Counts how the answers of scored runs were read: at once, after a turn that names the fault, or never.

    python bench/vllm/plain_answers.py FOLDER... [--broken FILE]

Each FOLDER is one condition: the data folders of `temper score` are below it, and the files of their results, or of
trials that are done (`.part`). A question is what one role is asked for one purpose in one attempt, until an answer is
readable or the attempt is given up. Turns that an engine out of order lost are no question's. Shares have the intervals
of the scores. Prints JSON; FILE gets every unreadable answer as a line.
"""

import argparse
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Any

import msgspec

from app.scores.score_figures import compute_mean_with_interval, compute_share_with_interval
from app.scores.score_structures import (
    SignedScore,
    Trial,
    has_worse_probe_or_rollback_leftover,
    is_fixed,
    was_finding_at_start,
)

_KINDS = ("turn.started", "turn.finished", "turn.interrupted")
_KEPT = ("turn", "purpose", "outcome", "detail", "finish_reason", "completion_tokens", "thought", "answer")
_FAULTS = {
    "no JSON object in the answer": "no JSON object",
    "the JSON object in the answer does not end": "no end of the JSON object",
    "the answer does not fit its shape: Expecting": "JSON with a fault",
    "the answer does not fit its shape: Unterminated": "JSON with a fault",
    "the answer does not fit its shape: Invalid control": "JSON with a fault",
    "the answer does not fit its shape: Invalid \\": "JSON with a fault",
    "the answer does not fit its shape: Extra data": "JSON with a fault",
    "the answer does not fit its shape": "JSON of another shape",
    "a question may not be asked": "a question that may not be asked",
    "it repeated itself": "it repeated itself and was cut",
}


@dataclass
class Asked:
    """One question: the turns that it took."""

    purpose: str
    ends: list[dict[str, Any]] = field(default_factory=list)

    @property
    def outcome(self) -> str:
        if self.ends[-1]["outcome"] != "answered":
            return "never"
        return {1: "at once", 2: "after one repair"}.get(len(self.ends), "after two repairs")


def read_trials(folder: Path) -> Iterator[Trial]:
    for file in sorted(folder.rglob("*.json")):
        if file.read_bytes()[:30].startswith(b'{"format":"temper score'):
            yield from msgspec.json.decode(file.read_bytes(), type=SignedScore).score.trials
    for file in sorted(folder.rglob("*.part")):
        for line in file.read_bytes().splitlines()[1:]:
            yield msgspec.json.decode(line, type=Trial)


def read_questions(folder: Path, runs: set[str]) -> Iterator[Asked]:
    for file in sorted(folder.rglob("temper.sqlite")):
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
            marks = ",".join("?" * len(_KINDS))
            rows = database.execute(f"select run, line from event where kind in ({marks}) order by run, seq", _KINDS)
            lines = [(run, json.loads(line)) for run, line in rows if run in runs]
        yield from _split_questions(lines)


def _split_questions(lines: list[tuple[str, dict[str, Any]]]) -> Iterator[Asked]:
    current: Asked | None = None
    place, started = (), dict[str, Any]()
    for run, event in lines:
        if event["kind"] == "turn.started":
            started = event
        elif event["kind"] == "turn.finished" and not event.get("lost"):
            here = (run, started["rule"], started["attempt"], event["purpose"])
            if current is None or here != place:
                if current:
                    yield current
                current, place = Asked(event["purpose"]), here
            current.ends.append(event)
            if event["outcome"] == "answered":
                yield current
                current = None
    if current:
        yield current


def name_fault(end: dict[str, Any]) -> str:
    detail = end["detail"]
    what = next((name for begins, name in _FAULTS.items() if detail.startswith(begins)), "")
    if end["outcome"] != "broken":
        return end["outcome"]
    return f"{what or 'other'}{', at the limit of tokens' if end.get('finish_reason') == 'length' else ''}"


def format_count(count: int, of: int) -> str:
    share = compute_share_with_interval(count, of)
    return f"{count} of {of} ({share.low:.0%}-{share.high:.0%})"


def describe_condition(folder: Path, broken: Path | None) -> dict[str, Any]:
    trials = list(read_trials(folder))
    asked = list(read_questions(folder, {one.run for one in trials}))
    ends = [end for one in asked for end in one.ends]
    unread = [end for end in ends if end["outcome"] != "answered"]
    if broken:
        with broken.open("a") as file:
            for end in unread:
                file.write(json.dumps({"of": folder.name} | {name: end.get(name) for name in _KEPT}) + "\n")
    found = [(trial, fate) for trial in trials for fate in trial.fates if was_finding_at_start(fate)]
    by_purpose = defaultdict(Counter)
    for one in asked:
        by_purpose[one.purpose][one.outcome] += 1
    outcomes = Counter(one.outcome for one in asked)
    seconds = [end.get("seconds", 0) for end in ends]
    repairs = [one for one in asked if one.outcome != "at once"]
    return {
        "condition": folder.name,
        "trials": len(trials),
        "fixed": format_count(sum(is_fixed(*one) for one in found), len(found)),
        "scanner passes": sum(fate.closing == "pass" for _, fate in found),
        "harm that stayed": sum(map(has_worse_probe_or_rollback_leftover, trials)),
        "refused by the policy": sum(fate.refused for _, fate in found),
        "failed at": Counter(fate.failed_at for one, fate in found if fate.failed_at and not is_fixed(one, fate)),
        "failed runs": Counter(one.broken for one in trials if one.broken),
        "turns": len(ends),
        "turns readable": format_count(len(ends) - len(unread), len(ends)),
        "questions": len(asked),
        "outcomes": {name: format_count(count, len(asked)) for name, count in outcomes.most_common()},
        "one repair mends": format_count(outcomes["after one repair"], len(repairs)),
        "by purpose": by_purpose,
        "faults": Counter(map(name_fault, unread)).most_common(),
        "turns per trial": _describe_mean([fate.turns for _, fate in found if fate.turns]),
        "tokens per trial": _describe_mean([fate.tokens for _, fate in found if fate.turns]),
        "prompt tokens per trial": _describe_mean([fate.prompt_tokens for _, fate in found if fate.turns]),
        "seconds per trial": _describe_mean([fate.seconds for _, fate in found if fate.turns]),
        "tokens per turn": round(fmean(end.get("completion_tokens", 0) for end in ends), 1) if ends else None,
        "prompt tokens per turn": round(fmean(end.get("prompt_tokens", 0) for end in ends), 1) if ends else None,
        "seconds per turn": [round(of(seconds), 3) for of in (median, fmean)] if seconds else [],
    }


def _describe_mean(values: list[float]) -> str:
    found = compute_mean_with_interval(values)
    return f"{found.value:.1f} ({found.low:.1f}-{found.high:.1f})" if found else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--broken", type=Path, help="file for the answers that could not be read")
    given = parser.parse_args()
    print(json.dumps([describe_condition(one, given.broken) for one in given.folder], indent=1))


if __name__ == "__main__":
    main()
