"""`temper candidates`: what recipes and the content propose for a rule on a host, and what the policy says to it."""

from collections.abc import Sequence

from msgspec import to_builtins

from app.candidates.gather import gather_candidates, is_settled, judge_candidates, try_scripts
from app.candidates.recipe_files import load_recipes
from app.cli.output import print_json, print_line
from app.cli.scan import load_site_skill
from app.config import Settings
from app.errors import BadInput
from app.events.vocabulary import Candidate
from app.runs.scanner_factory import prepare_new_fixture
from app.skills.catalog import suggest_rules
from app.skills.skill import Rule, Skill
from app.targets.host_registry import open_target
from app.text.clean import clean_text

ACCEPTED, NOT_ACCEPTED = 0, 2


def show_candidates(settings: Settings, rule_id: str, host: str, skill_name: str, *, as_json: bool) -> int:
    """Print the candidates; return 0 if the policy accepts one of them, else 2. Nothing on the host is changed."""
    recipes = load_recipes(settings.recipes_folder, settings.recipes)
    skill = load_site_skill(settings, skill_name, host)
    rule = _require_rule(skill, rule_id)
    target = open_target(host, settings.hosts_folder)
    try:
        prepare_new_fixture(target)
        target.require_paths(rule.paths)
        gathered = gather_candidates(skill, rule, target.files, recipes=recipes)
        judged = judge_candidates(gathered, target, rule.all_asks)
        if not is_settled(judged):
            judged = try_scripts(skill, rule, target, rule.all_asks, None, judged)
    finally:
        target.close()
    if as_json:
        print_json([_describe_candidate(one) for one in judged])
    else:
        _print_candidates(rule, judged)
    return ACCEPTED if any(one.is_usable for one in judged) else NOT_ACCEPTED


def _require_rule(skill: Skill, rule_id: str) -> Rule:
    if rule_id not in skill.rules:
        close = ", ".join(suggest_rules(rule_id, skill))
        raise BadInput(f"{skill.name} has no rule {rule_id[:60]!a}.{f' Did you mean {close}?' if close else ''}")
    return skill.rules[rule_id]


def _describe_candidate(one: Candidate) -> dict[str, object]:
    told = {"source": one.source, "also": one.also, "actions": to_builtins(one.actions), "accepted": one.is_usable}
    return told | {"gap": one.gap, "diff": one.diff, "refusals": [one.refusal] if one.refusal else []}


def _print_candidates(rule: Rule, found: Sequence[Candidate]) -> None:
    print_line(f"{rule.id}: {clean_text(rule.title, 200)}")
    if not found:
        print_line("Neither a recipe nor the content proposes anything for this rule.")
    for one in found:
        print_line(f"From {one.sources}: {_describe_answer(one)}")
        for line in filter(None, one.diff.split("\n")):
            print_line(f"    {clean_text(line, 400)}")


def _describe_answer(one: Candidate) -> str:
    if one.gap:
        return clean_text(one.gap, 400)
    return clean_text(f"refused. {one.refusal}", 600) if one.refusal else "accepted by the policy"
