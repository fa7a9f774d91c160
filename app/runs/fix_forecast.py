"""What a run would probably do: each finding of a scan with what is proposed for it, and nothing changed."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from app.candidates.gather import (
    gather_candidates,
    has_usable_or_impossible,
    judge_candidates,
    try_scripts_and_append_judged_candidates,
)
from app.candidates.recipe_file_reader import Recipe
from app.events.event_field_types import Candidate
from app.loop.escalated_finding_label import describe_escalated_question
from app.loop.perform import sort_findings_dependencies_first
from app.loop.state import Item
from app.loop.turn_context import build_rule_scope
from app.runs.scanner_factory import open_scanner_and_target
from app.scanners.scanner import Verdict
from app.skills.skill import Rule, Skill
from app.syntax.host_files_protocol import Files
from app.targets.target import Target


@dataclass(frozen=True)
class FindingForecast:
    rule: Rule
    taken: Candidate | None
    """The first proposal that the policy accepts; None if there is none."""
    question: str
    """What it leaves to a person or a role, in a few words; empty if a proposal is accepted."""
    reason: str

    @property
    def asks_person_before_change(self) -> bool:
        """A change is accepted, and a person is asked before it in each mode."""
        return self.taken is not None and self.rule.irreversible

    def to_row(self) -> dict[str, Any]:
        """Return it as the command line and the API print it."""
        return {
            "rule": self.rule.id,
            "title": self.rule.title,
            "source": self.taken.source if self.taken else "",
            "actions": to_builtins(self.taken.actions) if self.taken else [],
            "asks_a_person": self.asks_person_before_change,
            "question": self.question,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class RunForecast:
    rules: int
    """Rules that were scanned."""
    findings: tuple[FindingForecast, ...]
    """In the order of a run."""
    pace: float | None = None
    """Median seconds per finding of the host's last runs in mode auto."""

    @property
    def seconds(self) -> float | None:
        """The expected duration; None if the host had no run."""
        return None if self.pace is None else self.pace * len(self.findings)

    @property
    def findings_with_foreseen_change(self) -> list[FindingForecast]:
        return [one for one in self.findings if one.taken]

    @property
    def findings_that_ask_a_person(self) -> list[FindingForecast]:
        return [one for one in self.findings if one.asks_person_before_change]

    @property
    def source_counts(self) -> list[tuple[str, int]]:
        """Where the accepted proposals come from, with the number of each; the largest first."""
        return Counter(one.taken.source for one in self.findings if one.taken).most_common()

    @property
    def findings_without_change_by_question(self) -> list[tuple[str, list[FindingForecast]]]:
        """What is left to a model or to a person, by question; the largest group first."""
        groups: dict[str, list[FindingForecast]] = {}
        for one in self.findings:
            if not one.taken:
                groups.setdefault(one.question, []).append(one)
        return sorted(groups.items(), key=lambda group: -len(group[1]))


async def forecast_run(
    skill: Skill, host: str, hosts_folder: Path, recipes: Iterable[Recipe] = (), rules: Iterable[str] = ()
) -> RunForecast:
    """Scan the host and forecast what becomes of each finding. Nothing on the host is changed."""
    given = tuple(recipes)
    async with open_scanner_and_target(skill, host, hosts_folder) as (scanner, target):
        files = await target.run_blocking(lambda target: _set_rule_paths_and_get_files(target, skill))
        verdicts = {one.rule: one for one in await scanner.scan(files, list(rules) or list(skill.rules))}
        findings = sort_findings_dependencies_first(
            [rule for rule, one in verdicts.items() if one.word == "fail"], skill
        )
        forecasts = [
            await target.run_blocking(partial(_forecast_finding, skill, skill.rules[rule], verdicts[rule], given))
            for rule in findings
        ]
    return RunForecast(len(verdicts), tuple(forecasts))


def _set_rule_paths_and_get_files(target: Target, skill: Skill) -> Files:
    """Return the host's files. It is not prepared as for a run: a run may be at work, and its open change stays."""
    target.set_rule_paths_to_fetch([path for rule in skill.rules.values() for path in rule.paths])
    return target.files


def _forecast_finding(
    skill: Skill, rule: Rule, verdict: Verdict, recipes: tuple[Recipe, ...], target: Target
) -> FindingForecast:
    with target.cache_reads():
        scope = build_rule_scope(rule, None, Item(rule.id))
        found = gather_candidates(skill, rule, target.files, verdict.path or "", recipes, verdict.evidence)
        judged = judge_candidates(found, target, rule.permitted_weakenings, scope)
        if not has_usable_or_impossible(judged):
            judged = try_scripts_and_append_judged_candidates(
                skill, rule, target, rule.permitted_weakenings, scope, judged
            )
    taken = next((one for one in judged if one.is_usable), None)
    if taken:
        return FindingForecast(rule, taken, "", "")
    reason = next((one.refusal or one.gap for one in reversed(judged)), "neither a recipe nor the content proposes any")
    return FindingForecast(rule, None, describe_escalated_question(Item(rule.id, candidates=judged)), reason)
