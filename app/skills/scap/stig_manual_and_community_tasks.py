"""What other content on this machine knows about a STIG's rules: DISA's manual, and ComplianceAsCode's tasks.

DISA's data stream has checks and prose, and no task that a machine could do. Its manual has the texts of every rule,
and ComplianceAsCode's content for the same system names the same rules by their STIG ids.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from app.errors import BadInput
from app.events.event_field_types import Published
from app.scanners.openscap.benchmark import TASKS, Benchmark, read_benchmark
from app.scanners.openscap.published_rules import read_published
from app.scanners.openscap.safe_xml import MOST
from app.scanners.openscap.scap_files import ADDED, list_benchmarks, list_manuals, map_names_to_datastreams
from app.text.clean import read_with_excess_byte

PUBLISHER = "ComplianceAsCode"
_OF_DISA = re.compile(r"xccdf_mil\.disa\.stig_benchmark_")
_STIG_ID = re.compile(r"([A-Z]{2,}[A-Z0-9]*-\d\d-)\d{6}")
"""RHEL-09-255045, and the part that names the system."""
_COMMUNITY, _PROFILE = "ssg-", "stig"


@dataclass(frozen=True)
class ManualRule:
    fix: str
    severity: str


@dataclass(frozen=True)
class JoinedContent:
    stig_ids: Mapping[str, str]
    """STIG ids by the content's full rule ids."""
    manual: str = ""
    """The file of the manual STIG; empty if none was added."""
    community: Path | None = None
    """ComplianceAsCode's data stream for the same system."""
    manual_rules: Mapping[str, ManualRule] | None = None

    def find_manual_rule(self, full_rule_id: str) -> ManualRule | None:
        return (self.manual_rules or {}).get(full_rule_id)

    def count_rules_with_tasks(self) -> int:
        return sum(bool(self.render_fix(TASKS, rule)) for rule in self.stig_ids)

    def render_fix(self, system: str, full_rule_id: str) -> str:
        """Return ComplianceAsCode's fix of this kind for a rule of the STIG; "" if it has none."""
        if self.community is None:
            return ""
        known = _read_fixes_by_stig_id(system, self.community, self.community.stat().st_mtime_ns)
        return known.get(self.stig_ids.get(full_rule_id, ""), "")

    def format_community_source(self, kind: str, full_rule_id: str) -> str:
        return f"{PUBLISHER}'s {kind} for {self.stig_ids.get(full_rule_id, '')}"


NOTHING_JOINED = JoinedContent({})


def list_content_times() -> tuple[int, ...]:
    """Return the times of all content here, by which a joined skill is known to be out of date."""
    return tuple(file.stat().st_mtime_ns for file in (*list_benchmarks(ADDED), *map_names_to_datastreams().values()))


def join_content(file: Path, benchmark: Benchmark) -> JoinedContent:
    """Find the companions of a DISA data stream on this machine; other content has none."""
    if not _OF_DISA.match(benchmark.id):
        return NOTHING_JOINED
    own = read_published(read_with_excess_byte(file, MOST), file.name)
    ids = {one.rule: one.stig_id for one in own.rules if one.stig_id}
    manual = _find_manual(own)
    return JoinedContent(
        stig_ids=ids,
        manual=manual.name if manual else "",
        community=find_community_datastream(list(ids.values()), file),
        manual_rules=_read_manual(own, manual) if manual else None,
    )


def find_community_datastream(stig_ids: Sequence[str], excluded_file: Path | None = None) -> Path | None:
    """Return ComplianceAsCode's data stream that names these ids most often; None if no stream names them."""
    systems = sorted({found[1] for one in stig_ids if (found := _STIG_ID.fullmatch(one))})
    if not systems:
        return None
    begins = f"{_COMMUNITY}{systems[0][:2].lower()}"
    known = [
        file for name, file in map_names_to_datastreams().items() if name.startswith(begins) and file != excluded_file
    ]
    counted = [(_count_word_in_file(file, file.stat().st_mtime_ns, systems[0]), file) for file in known]
    most, best = max(counted, default=(0, None), key=lambda one: one[0])
    return best if most else None


@lru_cache(64)
def _count_word_in_file(file: Path, _stamp: int, word: str) -> int:
    try:
        return read_with_excess_byte(file, MOST).count(word.encode())
    except (OSError, BadInput):
        return 0


@lru_cache(4)
def _read_fixes_by_stig_id(system: str, file: Path, _stamp: int) -> dict[str, str]:
    """Map STIG ids to the fixes of all rules that serve them, with the values of the profile for this STIG.

    Only the fixes are kept: the whole document takes 200 MB.
    """
    try:
        benchmark = read_benchmark(file)
        found = benchmark.map_references_to_fixes(system, benchmark.resolve_profile_id(_PROFILE), _STIG_ID)
    except BadInput:
        return {}
    return {id_: "\n".join(fixes) for id_, fixes in found.items()}


def _find_manual(published: Published) -> Path | None:
    """Return the added XCCDF that has check texts and most of these rules, of several the newest release."""
    groups = {one.group for one in published.rules}
    found = []
    for file in list_manuals():
        try:
            one = read_published(read_with_excess_byte(file, MOST), file.name)
        except (OSError, BadInput):
            continue
        same = sum(rule.group in groups and bool(rule.check) for rule in one.rules)
        if same:
            found.append((same, [int(text) for text in re.findall(r"\d+", f"{one.version} {one.release[:14]}")], file))
    return max(found)[2] if found else None


def _read_manual(published: Published, manual: Path) -> dict[str, ManualRule]:
    """Return the manual's rules by the data stream's full rule ids, matched by V-number or else by STIG id."""
    content = read_with_excess_byte(manual, MOST)
    severities = {one.id: one.severity for one in Benchmark(content, manual.name).list_all_rules()}
    rules = read_published(content, manual.name).rules
    by_group, by_stig_id = {one.group: one for one in rules}, {one.stig_id: one for one in rules if one.stig_id}
    pairs = ((one.rule, by_group.get(one.group) or by_stig_id.get(one.stig_id)) for one in published.rules)
    return {rule: ManualRule(one.fix, severities.get(one.rule, "unknown")) for rule, one in pairs if one}
