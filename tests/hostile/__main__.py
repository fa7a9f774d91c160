"""python -m tests.hostile [--generated 10000]: how many attacks on the policy were tried, and how many got through.

And the other way round: how many honest changes were refused. With --generated, that many trials of each kind against
the real programs come on top (tests/differential).
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.differential import __main__ as differential
from tests.targets.test_hostile import FAMILIES, FIRST, laid_out, told_of
from tests.targets.test_policy import HONEST, as_action, paths_of, with_links

PROGRAMS = ("sshd", "sudo", "pam", "sysctl", "modprobe", "auditd", "pwquality", "profile", "selinux", "tables")


def attacked(folder: Path) -> int:
    """How many attacks were accepted; each that was is named."""
    tried = got_through = 0
    for number, (name, family) in enumerate(
        {"first": {"refused": FIRST}, **{name: told_of(name) for name in FAMILIES}}.items()
    ):
        hosts = {
            host: laid_out(folder / f"{number}.{place}", doctored)
            for place, (host, doctored) in enumerate({"": {}, **family.get("hosts", {})}.items())
        }
        hosts |= {"": with_links(folder / "links")} if name == "first" else {}
        accepted = []
        for case in family["refused"]:
            action = as_action(case["action"])
            paths = frozenset(case["plan"]) if "plan" in case else paths_of(action)
            if (
                not hosts[case.get("host", "")]
                .assess_actions([action], paths, frozenset(case.get("asks", ())))
                .refusals
            ):
                accepted.append(case)
        print(f"{name:24} {len(family['refused']):5} attacks, {len(accepted)} accepted", *accepted, sep="\n    ")
        tried, got_through = tried + len(family["refused"]), got_through + len(accepted)
    print(f"{'in all':24} {tried:5} attacks, {got_through} accepted")
    return got_through


def served(folder: Path) -> int:
    """How many honest changes were refused; each that was is named."""
    target, wrong = laid_out(folder / "honest", {}), 0
    for case in HONEST:
        actions = [as_action(table) for table in case["actions"]]
        refusals = target.assess_actions(actions, paths_of(*actions), frozenset(case.get("asks", ()))).refusals
        wrong += bool(refusals)
        if refusals:
            print(f"    refused: {case['why']}: {refusals[0].reason}")
    print(f"{'honest':24} {len(HONEST):5} changes, {wrong} refused")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile")
    parser.add_argument("--generated", type=int, default=0, help="trials of each kind against the real programs")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="temper-hostile-") as folder:
        wrong = attacked(Path(folder)) + served(Path(folder))
    if given.generated:
        sys.argv = ["differential", *PROGRAMS, "--count", str(given.generated)]
        wrong += differential.main()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
