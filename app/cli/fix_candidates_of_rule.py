"""`temper candidates`: what recipes and the content propose for a rule on a host, and what the policy says to it."""

from collections.abc import Sequence
from contextlib import closing

from msgspec import to_builtins

from app.candidates.gather import (
    gather_candidates,
    has_usable_or_impossible,
    judge_candidates,
    try_scripts_and_append_judged_candidates,
)
from app.candidates.recipe_file_reader import load_folder_and_extra_recipes
from app.cli.database_access import sync_host_folders
from app.cli.host_scan_and_scap_content import load_site_skill
from app.cli.output import print_json, print_line
from app.config import Settings
from app.errors import BadInput
from app.events.event_field_types import Candidate
from app.runs.scanner_factory import prepare_fixture_if_empty
from app.skills.catalog import suggest_rules
from app.skills.skill import Rule, Skill
from app.targets.host_registry import open_target
from app.text.clean import clean_text

ACCEPTED, NOT_ACCEPTED = 0, 2


def print_candidates_and_get_acceptance_code(
    settings: Settings, rule_id: str, host: str, skill_name: str, *, as_json: bool
) -> int:
    """Print the candidates; return 0 if the policy accepts one of them, else 2. Nothing on the host is changed."""
    sync_host_folders(settings)
    recipes = load_folder_and_extra_recipes(settings.fix_recipes_folder, settings.recipes)
    skill = load_site_skill(settings, skill_name, host)
    rule = _require_rule(skill, rule_id)
    with closing(open_target(host, settings.hosts_folder)) as target:
        prepare_fixture_if_empty(target)
        target.set_rule_paths_to_fetch(rule.paths)
        gathered = gather_candidates(skill, rule, target.files, recipes=recipes)
        judged = judge_candidates(gathered, target, rule.permitted_weakenings)
        if not has_usable_or_impossible(judged):
            judged = try_scripts_and_append_judged_candidates(
                skill, rule, target, rule.permitted_weakenings, None, judged
            )
    if as_json:
        print_json([_to_candidate_row(one) for one in judged])
    else:
        _print_candidates(rule, judged)
    return ACCEPTED if any(one.is_usable for one in judged) else NOT_ACCEPTED


def _require_rule(skill: Skill, rule_id: str) -> Rule:
    if rule_id not in skill.rules:
        close = ", ".join(suggest_rules(rule_id, skill))
        raise BadInput(f"{skill.name} has no rule {rule_id[:60]!a}.{f' Did you mean {close}?' if close else ''}")
    return skill.rules[rule_id]


def _to_candidate_row(candidate: Candidate) -> dict[str, object]:
    return {
        "source": candidate.source,
        "also": candidate.also,
        "actions": to_builtins(candidate.actions),
        "accepted": candidate.is_usable,
        "gap": candidate.gap,
        "diff": candidate.diff,
        "refusals": [candidate.refusal] if candidate.refusal else [],
    }


def _print_candidates(rule: Rule, found: Sequence[Candidate]) -> None:
    print_line(f"{rule.id}: {clean_text(rule.title, 200)}")
    if not found:
        print_line("Neither a recipe nor the content proposes anything for this rule.")
    for one in found:
        print_line(f"From {one.sources}: {_describe_policy_answer(one)}")
        for line in filter(None, one.diff.split("\n")):
            print_line(f"    {clean_text(line, 400)}")


def _describe_policy_answer(candidate: Candidate) -> str:
    if candidate.gap:
        return clean_text(candidate.gap, 400)
    return clean_text(f"refused. {candidate.refusal}", 600) if candidate.refusal else "accepted by the policy"
