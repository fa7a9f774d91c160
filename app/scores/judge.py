"""Judge a host that another agent worked on: `python -m app.scores.judge BEFORE AFTER RULE` prints the result as JSON.

BEFORE and AFTER are folders with a host's files under root/ and the table owners.json.
Exits with 0 if the rule is fixed and with 3 if not.
Needs only this package's parsers, checks and probes, and msgspec; no engine, database or network.
"""

import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from app.loop.harm import worse
from app.scores.hidden import HostReading, met, weakened
from app.skills.stig.pack import STIG
from app.targets.disk import Disk
from app.targets.fixture.layout import audit_fill
from app.targets.health import health
from app.targets.tree import Tree

_DAY = 86400
NOT_FIXED = 3


@dataclass(frozen=True)
class Judgement:
    scanner: str
    evidence: str
    met: bool
    weakened: str
    worse: str

    @property
    def fixed(self) -> bool:
        return self.scanner == "pass" and self.met and not self.weakened and not self.worse


def judged(before: Tree, after: Tree, rule: str) -> Judgement:
    verdict = STIG.rules[rule].check(after)
    today, fill = int(time.time()) // _DAY, audit_fill()
    return Judgement(
        scanner=verdict.word,
        evidence=verdict.evidence,
        met=bool(met(rule, HostReading(after))),
        weakened=weakened(before, after, STIG.rules[rule].asks),
        worse=worse(health(before, today, fill), health(after, today, fill)) or "",
    )


def main(before: str, after: str, rule: str) -> int:
    found = judged(Tree(Path(before), Disk()), Tree(Path(after), Disk()), rule)
    sys.stdout.write(json.dumps({"fixed": found.fixed, **asdict(found)}, indent=1) + "\n")
    return 0 if found.fixed else NOT_FIXED


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
