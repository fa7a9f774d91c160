"""`temper plan-run`: what a run would probably fix on a host, by whom, and what it would leave to a person."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence

from msgspec import to_builtins

from app.candidates.recipes import load_recipes
from app.cli.database_access import has_database
from app.cli.output import print_json, print_line
from app.cli.scan import resolve_rule_ids
from app.config import Settings
from app.runs.parameters import load_skill_with_site_values
from app.runs.run_forecast import FindingForecast, forecast_run
from app.skills.catalog import load_skill
from app.store.db import open_database
from app.text.clean import clean_text

ALL_PROPOSED, SOME_OPEN = 0, 2
_SHOWN = 200


def plan_run(settings: Settings, host: str, skill_name: str, rules: Sequence[str], *, as_json: bool) -> int:
    """Print the forecast; return 0 if a change is accepted for every finding, else 2. Nothing is changed."""
    stored = open_database(settings.database_location) if has_database(settings) else None
    skill = load_skill_with_site_values(skill_name, host, stored) if stored else load_skill(skill_name)
    recipes = load_recipes(settings.recipes_folder, settings.recipes)
    named = resolve_rule_ids(rules, skill)
    found = asyncio.run(forecast_run(skill, host, settings.hosts_folder, recipes, named))
    if as_json:
        print_json([_to_row(one) for one in found])
    else:
        _print_forecast(host, found)
    return ALL_PROPOSED if all(one.taken for one in found) else SOME_OPEN


def _to_row(one: FindingForecast) -> dict[str, object]:
    return {
        "rule": one.rule.id,
        "title": one.rule.title,
        "source": one.taken.source if one.taken else "",
        "actions": to_builtins(one.taken.actions) if one.taken else [],
        "asks_a_person": one.needs_person,
        "question": one.question,
        "reason": one.reason,
    }


def _print_forecast(host: str, found: Sequence[FindingForecast]) -> None:
    ready = [one for one in found if one.taken]
    print_line(f"{host}: {len(found)} findings. For {len(ready)} a change is proposed that the policy accepts:")
    for source, count in Counter(one.taken.source for one in ready if one.taken).most_common():
        print_line(f"  {count:4}  from {source}")
    if asked := [one.rule.id for one in ready if one.needs_person]:
        print_line(f"  {len(asked):4}  of these ask a person in every mode: {', '.join(asked)}")
    left: dict[str, list[FindingForecast]] = defaultdict(list)
    for one in found:
        if not one.taken:
            left[one.question].append(one)
    if left:
        print_line(f"{len(found) - len(ready)} are left to a model or to a person:")
    for question, ones in sorted(left.items(), key=lambda group: -len(group[1])):
        print_line(f"  {len(ones):4}  {question}")
        for one in ones:
            print_line(f"          {one.rule.id}: {clean_text(' '.join(one.reason.split()), _SHOWN)}")
    print_line("The scanner and the probes judge each change again when it is made.")
