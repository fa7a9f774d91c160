"""Puts the literal lines of DISA's fix texts to the policy, on the built-in host.

    temper scap add U_RHEL_9_V2R9_STIG_SCAP_1-3_Benchmark.zip
    python bench/disa/policy.py U_RHEL_9_V2R9_STIG_SCAP_1-3_Benchmark:MAC-1_Public

Only rules are asked whose fix text has a line to write. Each is put to an untouched built-in host with all that is
proposed for it. A rule is accepted if one proposal is, and left to a person if none is and somebody has to decide.
Nothing is changed, and only ids, counts and the policy's reasons are printed.
"""

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
from app.candidates.gather import gather_candidates, judge_candidates
from app.events.event_field_types import Candidate
from app.scores.generated_hosts import create_builtin_host, empty_folder_and_write_host
from app.skills.catalog import load_skill
from app.skills.stated_settings import find_stated_lines
from app.targets.fixture.fixture_target import FixtureTarget

_OPEN_VALUE, _NOTHING_TO_DO = "leaves a value open", "would change nothing"
_AUDIT = "/etc/audit/rules.d/"


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("content", help="CONTENT:PROFILE of a data stream that was added")
    args = asked.parse_args()
    skill = load_skill(f"scap:{args.content}")
    rules = {rule.id: rule for rule in skill.rules.values() if any(True for _ in find_stated_lines(rule.fix))}
    sorted_by_answer: dict[str, list[str]] = defaultdict(list)
    reasons = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "fixture"
        folder.mkdir()
        empty_folder_and_write_host(create_builtin_host(), folder)
        target = FixtureTarget("fixture", folder)
        for id_, rule in rules.items():
            target.set_rule_paths_to_fetch(rule.paths)
            gathered = gather_candidates(skill, rule, target.files)
            found = judge_candidates(gathered, target, rule.permitted_weakenings)
            sorted_by_answer[_choose_answer(found)].append(id_)
            reasons[id_] = next((one.refusal or one.gap for one in found if not one.question), "")
    print(f"{len(rules)} of {len(skill.rules)} rules have literal lines")
    for answer, ids in sorted(sorted_by_answer.items(), key=lambda pair: -len(pair[1])):
        audit = sum(any(one.path.startswith(_AUDIT) for one in find_stated_lines(rules[id_].fix)) for id_ in ids)
        print(f"{len(ids):4} {answer} ({audit} of them audit rules)")
    for id_ in [id_ for answer in ("refused", "no proposal") for id_ in sorted_by_answer[answer]]:
        print(f"  {id_}: {reasons[id_][:160]}")
    return 0


def _choose_answer(found: Sequence[Candidate]) -> str:
    if any(one.is_usable for one in found):
        return "accepted"
    if any(one.question or _OPEN_VALUE in one.gap for one in found):
        return "left to a person"
    if any(_NOTHING_TO_DO in one.gap for one in found):
        return "nothing to change"
    return "refused" if any(one.refusal for one in found) else "no proposal"


if __name__ == "__main__":
    sys.exit(main())
