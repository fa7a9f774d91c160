"""`temper plan-run`: what a run would probably fix on a host, by whom, and what it would leave to a person."""

import asyncio
from collections.abc import Sequence

from app.candidates.recipe_file_reader import load_folder_and_extra_recipes
from app.cli.database_access import sync_host_folders
from app.cli.host_scan_and_scap_content import load_site_skill, resolve_rule_ids_or_all
from app.cli.output import print_json, print_line
from app.config import Settings
from app.runs.fix_forecast import RunForecast, forecast_run
from app.text.clean import clean_text

ALL_PROPOSED, SOME_OPEN = 0, 2
_SHOWN = 200


def print_forecasts_and_get_exit_code(
    settings: Settings, host: str, skill_name: str, rules: Sequence[str], *, as_json: bool
) -> int:
    """Print the forecast; return 0 if a change is accepted for every finding, else 2. Nothing is changed."""
    sync_host_folders(settings)
    skill = load_site_skill(settings, skill_name, host)
    recipes = load_folder_and_extra_recipes(settings.fix_recipes_folder, settings.recipes)
    named = resolve_rule_ids_or_all(rules, skill)
    found = asyncio.run(forecast_run(skill, host, settings.hosts_folder, recipes, named))
    if as_json:
        print_json([one.to_row() for one in found.findings])
    else:
        _print_forecast(host, found)
    return ALL_PROPOSED if len(found.findings_with_foreseen_change) == len(found.findings) else SOME_OPEN


def _print_forecast(host: str, forecast: RunForecast) -> None:
    total, ready = len(forecast.findings), len(forecast.findings_with_foreseen_change)
    print_line(f"{host}: {total} findings. For {ready} a change is proposed that the policy accepts:")
    for source, count in forecast.source_counts:
        print_line(f"  {count:4}  from {source}")
    if asked := [one.rule.id for one in forecast.findings_that_ask_a_person]:
        print_line(f"  {len(asked):4}  of these ask a person in every mode: {', '.join(asked)}")
    if forecast.findings_without_change_by_question:
        print_line(f"{total - ready} are left to a model or to a person:")
    for question, ones in forecast.findings_without_change_by_question:
        print_line(f"  {len(ones):4}  {question}")
        for one in ones:
            print_line(f"          {one.rule.id}: {clean_text(' '.join(one.reason.split()), _SHOWN)}")
    print_line("The scanner and the probes judge each change again when it is made.")
