"""Holds the checks of the skill stig_wide to DISA's own OVAL over generated hosts.

    python bench/disa/agreement.py U_RHEL_9_V2R9_STIG_SCAP_1-3_Benchmark.xml --hosts 200

FILE is DISA's data stream as published; nothing of it is kept or printed but ids. Each host is a folder of files made
by chance: right, wrong and near values, missing and contradictory lines, drop-ins, odd spellings. OpenSCAP judges
DISA's definitions on it, cut down to those of the table; Temper judges the same files.

Kernel settings: systemd-sysctl loads the host's files, and OpenSCAP asks the kernel. Both run in namespaces of their
own: the settings of IPv4 and IPv6 are those of a new network namespace, the others are in a copy of /proc/sys. It needs
root; without it these rules are left out.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

sys.path.insert(0, str(Path(__file__).parents[2]))
from app.skills.stig_wide.pack import STIG_WIDE, load_table
from bench.generated_hosts import Generated, generate_host
from tests.hostfiles import DictFiles

_OVAL = "{http://oval.mitre.org/XMLSchema/oval-definitions-5}"
_SECTIONS = ("definitions", "tests", "objects", "states", "variables")
_SAYS = re.compile(r"^Definition (\S+): (.+)$", re.MULTILINE)
_IN_NAMESPACE = """
set -e
ip link set lo up
mount --bind "$1/etc/sysctl.d" /etc/sysctl.d
mount --bind "$1/usr/lib/sysctl.d" /usr/lib/sysctl.d
for part in kernel fs user net/core; do mount --bind "$1/proc/sys/$part" "/proc/sys/$part"; done
/usr/lib/systemd/systemd-sysctl
exec oscap oval eval "$2"
"""


@dataclass(frozen=True)
class Definitions:
    file: Path
    rules: dict[str, str]
    """Rules by the id of their definition."""


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("file", type=Path)
    asked.add_argument("--hosts", type=int, default=100)
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--each-rule", action="store_true", help="print the counts of every rule as well")
    args = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare_hosts(args, Path(folder))
    return 0


def compare_hosts(args: argparse.Namespace, folder: Path) -> None:
    table = load_table()
    kinds = {rule: kind for kind in table.__struct_fields__ for rule in getattr(table, kind).rules}
    kernel = {rule for rule, kind in kinds.items() if kind == "sysctl"} if os.geteuid() == 0 else set()
    of_files = cut_definitions(args.file, {*kinds} - {r for r, k in kinds.items() if k == "sysctl"}, folder / "a.xml")
    of_kernel = cut_definitions(args.file, kernel, folder / "b.xml")
    told = Comparison(kinds)
    for number in range(args.seed, args.seed + args.hosts):
        host = generate_host(random.Random(number), table)
        root = folder / str(number)
        write_host(host, root)
        found = evaluate_files(of_files, root)
        if kernel:
            found |= evaluate_kernel(of_kernel, root)
        files = DictFiles(host.files)
        for rule, says in found.items():
            told.add(rule, says, STIG_WIDE.rules[rule].check(files).word, host.scenarios[rule], number)
        print(f"\r{number - args.seed + 1} hosts", end="", file=sys.stderr)
    print(file=sys.stderr)
    told.print_report(each_rule=args.each_rule)


def cut_definitions(stream: Path, rules: set[str], file: Path) -> Definitions:
    """Write those definitions of the data stream that the rules need, with all that they refer to."""
    tree = ET.parse(stream)  # a file that the caller trusts
    names: dict[str, str] = {}
    for group in tree.iter("{http://checklists.nist.gov/xccdf/1.2}Group"):
        rule = group.get("id", "").rpartition("_")[2]
        refs = [ref.get("name") for ref in group.iter("{http://checklists.nist.gov/xccdf/1.2}check-content-ref")]
        names |= {ref: rule for ref in refs if ref and rule in rules}
    oval = next(
        one
        for one in tree.iter(f"{_OVAL}oval_definitions")
        if one.find(f"{_OVAL}definitions") is not None
        and any(part.get("id") in names for part in one.find(f"{_OVAL}definitions") or ())
    )
    parts = {part.get("id"): part for name in _SECTIONS for part in oval.find(f"{_OVAL}{name}") or ()}
    kept, ahead = set(), [*names]
    while ahead:
        if (at := ahead.pop()) in parts and at not in kept:
            kept.add(at)
            ahead += _list_references(parts[at])
    for name in _SECTIONS:
        section = oval.find(f"{_OVAL}{name}")
        for part in [] if section is None else list(section):
            if part.get("id") not in kept:
                section.remove(part)
        if section is not None and not len(section):
            oval.remove(section)
    ET.ElementTree(oval).write(file)
    return Definitions(file, names)


def _list_references(part: ET.Element) -> Iterator[str]:
    for one in part.iter():
        yield from (value for name, value in one.attrib.items() if name.endswith("_ref"))
        if one.text and one.text.strip().startswith("oval:"):
            yield one.text.strip()


def write_host(host: Generated, root: Path) -> None:
    for path, text in host.files.items():
        file = root / path.removeprefix("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for name in ("etc/sysctl.d", "usr/lib/sysctl.d"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for key, value in host.kernel.items():
        file = root / "proc/sys" / key.replace(".", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{value}\n")


def evaluate_files(definitions: Definitions, root: Path) -> dict[str, str]:
    asked = ["oscap", "oval", "eval", str(definitions.file)]
    return _read_answers(definitions, asked, {**os.environ, "OSCAP_PROBE_ROOT": str(root)})


def evaluate_kernel(definitions: Definitions, root: Path) -> dict[str, str]:
    asked = ["unshare", "--mount", "--net", "sh", "-c", _IN_NAMESPACE, "sh", str(root), str(definitions.file)]
    return _read_answers(definitions, asked, dict(os.environ))


def _read_answers(definitions: Definitions, command: list[str], environment: dict[str, str]) -> dict[str, str]:
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=120)
    found = {definitions.rules[name]: says for name, says in _SAYS.findall(done.stdout) if name in definitions.rules}
    if len(found) != len(definitions.rules):
        sys.exit(f"OpenSCAP judged {len(found)} of {len(definitions.rules)} rules: {done.stderr[-800:]}")
    return found


class Comparison:
    def __init__(self, kinds: dict[str, str]) -> None:
        self.kinds = kinds
        self.agree: Counter[str] = Counter()
        self.both: dict[str, set[str]] = defaultdict(set)
        self.differ: dict[tuple[str, str, str, str], list[tuple[str, int]]] = defaultdict(list)

    def add(self, rule: str, oval: str, temper: str, scenario: str, host: int) -> None:
        """Add a verdict of each side. They agree if both or neither pass: an error is no pass."""
        word = {"true": "pass", "false": "fail"}.get(oval, oval)
        if (word == "pass") == (temper == "pass"):
            self.agree[rule] += 1
            self.both[rule].add(word if word == "pass" else "fail")
        else:
            self.differ[self.kinds[rule], scenario, word, temper].append((rule, host))

    def print_report(self, *, each_rule: bool) -> None:
        differing = Counter(rule for cases in self.differ.values() for rule, _ in cases)
        print("| kind | rules | verdicts | agree | differ |\n|---|---|---|---|---|")
        for kind in dict.fromkeys(self.kinds.values()):
            rules = [rule for rule in self.kinds if self.kinds[rule] == kind and self.agree[rule] + differing[rule]]
            same, other = sum(self.agree[rule] for rule in rules), sum(differing[rule] for rule in rules)
            print(f"| {kind} | {len(rules)} | {same + other} | {same} | {other} |")
        total, other = self.agree.total() + differing.total(), differing.total()
        print(f"| all | {len({*self.agree} | {*differing})} | {total} | {total - other} | {other} |")
        one_sided = sorted(rule for rule in self.kinds if self.both[rule] != {"pass", "fail"})
        print(f"\nRules that did not agree on both a pass and a fail: {', '.join(one_sided) or 'none'}")
        print("\n| kind | host | OVAL | Temper | times | rules | example |\n|---|---|---|---|---|---|---|")
        for (kind, scenario, oval, temper), cases in sorted(self.differ.items()):
            rules = {rule for rule, _ in cases}
            example = f"{cases[0][0]} on host {cases[0][1]}"
            print(f"| {kind} | {scenario} | {oval} | {temper} | {len(cases)} | {len(rules)} | {example} |")
        if each_rule:
            print("\n| rule | agree | differ |\n|---|---|---|")
            for rule in self.kinds:
                print(f"| {rule} | {self.agree[rule]} | {differing[rule]} |")


if __name__ == "__main__":
    sys.exit(main())
