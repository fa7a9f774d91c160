"""The starting point of a run: the open rules of a foreign assessment that the skill knows."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from app.errors import BadInput
from app.evidence.incoming.assessment import AssessedRule, parse_ckl_or_xccdf, parse_cklb
from app.skills.skill import Skill
from app.text.clean import clean_line, read_with_excess_byte

LARGEST = 128 * 1024 * 1024
_NUMBER = re.compile(r"(?:^|[^A-Za-z0-9])S?(V-[0-9]{4,9})")
_SHOWN = 12


@dataclass(frozen=True)
class StartingPoint:
    file: str
    sha256: str
    rules: tuple[str, ...]
    """Open rules that the skill has, in its order."""
    unknown: tuple[str, ...]
    """Open rules that the skill does not have."""
    closed: int
    undecided: int

    @property
    def summary_text(self) -> str:
        rules = "open rule" if len(self.rules) == 1 else "open rules"
        summary = f"{self.file}: {len(self.rules)} {rules} taken, {self.closed} that hold or do not apply left alone"
        if self.undecided:
            summary += f", {self.undecided} that nobody decided left out: scan to know"
        if self.unknown:
            names = ", ".join(self.unknown[:_SHOWN])
            more = f" and {len(self.unknown) - _SHOWN} more" if len(self.unknown) > _SHOWN else ""
            rules = "open rule is" if len(self.unknown) == 1 else "open rules are"
            summary += f"; {len(self.unknown)} {rules} not in this skill: {names}{more}"
        return f"{summary}."

    @property
    def note_for_log(self) -> str:
        """The note for the log, with the file's digest so that the run can be compared with it."""
        return f"open rules of {self.file} (sha256 {self.sha256})"


def read_starting_point(path: Path, skill: Skill) -> StartingPoint:
    content = _read_content(path)
    try:
        assessed = _parse_assessed_rules(content)
    except BadInput as exc:
        raise BadInput(f"{path}: {exc} Give a CKLB, a CKL, or XCCDF results or ARF.") from exc
    start = _build_starting_point(path.name, content, assessed, skill)
    if not start.rules:
        raise BadInput(f"{start.summary_text} There is nothing to run.")
    return start


def _read_content(path: Path) -> bytes:
    try:
        content = read_with_excess_byte(path, LARGEST)
    except OSError as exc:
        raise BadInput(f"{path} cannot be read: {exc.strerror}.") from exc
    if len(content) > LARGEST:
        raise BadInput(f"{path} is larger than {LARGEST // 1024**2} MiB: give a file with the results only.")
    return content


def _parse_assessed_rules(content: bytes) -> list[AssessedRule]:
    if content.startswith(b"PK"):
        raise BadInput("it is an archive: unpack it.")
    head = content[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
    return parse_cklb(content) if head.startswith(b"{") else parse_ckl_or_xccdf(content)


def _build_starting_point(file: str, content: bytes, assessed: list[AssessedRule], skill: Skill) -> StartingPoint:
    index = {name: rule.id for rule in skill.rules.values() for name in (rule.id, rule.stig_id)}
    taken, unknown = set(), []
    for one in assessed:
        rule = next((index[name] for name in _add_v_numbers(one.names) if name in index), None)
        if one.finding == "open" and rule:
            taken.add(rule)
        elif one.finding == "open":
            unknown.append(clean_line(one.names[0] if one.names else "one without a name", 80))
    counts = [one.finding for one in assessed]
    return StartingPoint(
        file=clean_line(file, 100),
        sha256=hashlib.sha256(content).hexdigest(),
        rules=tuple(rule for rule in skill.rules if rule in taken),
        unknown=tuple(dict.fromkeys(unknown)),
        closed=counts.count("closed"),
        undecided=counts.count("undecided"),
    )


def _add_v_numbers(names: tuple[str, ...]) -> list[str]:
    """Add the V- number of names like SV-257985r925865_rule, which differ between releases."""
    return [*names, *(number for name in names for number in _NUMBER.findall(name))]
