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

from app.loop.harm_seen_by_probes import find_first_harm
from app.scores.file_host_second_check import (
    EffectiveSettings,
    describe_weakening_or_excess,
    find_whether_requirement_is_met,
)
from app.skills.stig.pack import STIG
from app.targets.crash_safe_writes import Disk
from app.targets.fixture.tree_builder import find_audit_disk_usage
from app.targets.health_probes import run_health_probes
from app.targets.local_tree import LocalTree

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
    def is_fixed(self) -> bool:
        return self.scanner == "pass" and self.met and not self.weakened and not self.worse


def judge_host(before: LocalTree, after: LocalTree, rule: str) -> Judgement:
    verdict = STIG.rules[rule].check(after)
    today, fill = int(time.time()) // _DAY, find_audit_disk_usage()
    return Judgement(
        scanner=verdict.word,
        evidence=verdict.evidence,
        met=bool(find_whether_requirement_is_met(rule, EffectiveSettings(after))),
        weakened=describe_weakening_or_excess(before, after, STIG.rules[rule].permitted_weakenings),
        worse=find_first_harm(run_health_probes(before, today, fill), run_health_probes(after, today, fill)) or "",
    )


def main(before: str, after: str, rule: str) -> int:
    found = judge_host(LocalTree(Path(before), Disk()), LocalTree(Path(after), Disk()), rule)
    sys.stdout.write(json.dumps({"fixed": found.is_fixed, **asdict(found)}, indent=1) + "\n")
    return 0 if found.is_fixed else NOT_FIXED


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
