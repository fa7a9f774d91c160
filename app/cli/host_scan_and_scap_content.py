"""`temper scan` and `temper scap`: scan a host with OpenSCAP, and manage SCAP content and tailorings."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from sqlmodel import Session

from app.cli.database_access import has_database, open_existing_database, sync_host_folders
from app.cli.output import Row, print_json, print_line, print_rows, write_output
from app.config import Settings
from app.errors import BadInput
from app.events.event_field_types import Word
from app.runs.scanner_factory import open_scanner_and_target
from app.runs.site_values import load_skill_with_site_values
from app.runs.tailored_profiles import list_tailored_profiles, validate_and_store_tailoring
from app.runs.waivers_and_values_as_tailoring import TailoringSpec, export_tailoring
from app.scanners.openscap.benchmark import Profile, read_benchmark
from app.scanners.openscap.published_rules import read_published
from app.scanners.openscap.scanner import OpenScapScanner
from app.scanners.openscap.scap_files import add_benchmark, map_names_to_datastreams, require_datastream
from app.scanners.openscap.tailoring import ENDING, MOST_BYTES
from app.scanners.scanner import BuiltinScanner, Verdict
from app.skills.catalog import load_skill, suggest_rules
from app.skills.scap.stig_manual_and_community_tasks import PUBLISHER, join_content
from app.skills.skill import Skill
from app.store.database_clock import database_time
from app.store.db import open_and_migrate_database

ALL_HOLD, SOME_DO_NOT = 0, 2
_STYLE: dict[Word, str] = {"pass": "green", "fail": "red", "notapplicable": "dim"}
"""The others are yellow."""


def print_datastreams_or_profiles(datastream: str, *, as_json: bool = False) -> None:
    if not datastream:
        files = [{"content": known, "file": str(file)} for known, file in map_names_to_datastreams().items()]
        nothing = "No data streams found. Install some, for example with apt-get install ssg-debian."
        return print_rows(files, nothing, as_json=as_json)
    benchmark = read_benchmark(_take_path_or_require_datastream(datastream))
    if not as_json:
        print_line(f"{benchmark.title} {benchmark.version}")
    profiles = [_to_profile_row(one.short_id, one) for one in benchmark.profiles]
    profiles += [
        _to_profile_row(f"{one.profile.short_id}:{one.tailoring}", one.profile)
        for one in list_tailored_profiles()
        if map_names_to_datastreams().get(one.content) == _take_path_or_require_datastream(datastream)
    ]
    return print_rows(profiles, f"{datastream} has no profiles.", as_json=as_json)


def _to_profile_row(name: str, profile: Profile) -> Row:
    return {"profile": name, "rules": profile.rules, "title": profile.title}


def add_benchmark_file(file: Path) -> None:
    kept = add_benchmark(file)
    known = [name for name, here in map_names_to_datastreams().items() if here == kept]
    print_line(_describe_added_datastream(known[0], kept) if known else _describe_added_manual(kept))


def _describe_added_manual(stored_file: Path) -> str:
    rules = len(read_published(stored_file.read_bytes(), stored_file.name).rules)
    return (
        f"Added {stored_file.name} as a manual STIG: {rules} rules with texts, and no checks for OpenSCAP. Data "
        "streams of the same STIG take their fix texts from it, and the evidence of new runs its rule ids, CCIs and "
        "texts."
    )


def _describe_added_datastream(name: str, stored_file: Path) -> str:
    benchmark = read_benchmark(stored_file)
    profile = next((one.short_id for one in benchmark.profiles if one.rules), "PROFILE")
    joined = join_content(stored_file, benchmark)
    added = f"Added as {name}. Use it with --skill scap:{name}:{profile}"
    if not joined.stig_ids:
        return added
    manual = f"Texts: the manual {joined.manual}." if joined.manual else "Texts: its own; no manual STIG was added."
    system = next(iter(joined.stig_ids.values()))[:-7]
    tasks = (
        f"Tasks: {PUBLISHER}'s {joined.community.name}, for {joined.count_rules_with_tasks()} of its rules."
        if joined.community
        else f"Tasks: none, as no content of {PUBLISHER} here names {system}'s rules. Install ssg-nondebian (Debian 13 "
        "or later) or scap-security-guide (RHEL), or add its data stream."
    )
    return f"{added}\nRules: {len(joined.stig_ids)}, with the checks of DISA. {manual} {tasks}"


def scan_host(settings: Settings, host: str, content: str, profile: str, rules: Sequence[str], *, as_json: bool) -> int:
    sync_host_folders(settings)
    name = f"scap:{content.removesuffix('.xml').removesuffix('-ds')}:{profile}"
    pack = load_site_skill(settings, name, host)
    verdicts, beside = asyncio.run(
        _scan_for_openscap_verdicts_and_builtin_words(settings, host, pack, resolve_rule_ids_or_all(rules, pack))
    )
    console, count = Console(), Counter(verdict.word for verdict in verdicts)
    worst = SOME_DO_NOT if set(count) - {"pass", "notapplicable"} else ALL_HOLD
    if as_json:
        rows = [
            {"rule": one.rule, "openscap": one.word, "built_in": beside.get(one.rule), "why": one.evidence}
            for one in verdicts
        ]
        print_json(rows)
        return worst
    table = Table("rule", "OpenSCAP", *(["built-in"] if beside else []), "why", box=None)
    for verdict in verdicts:
        word = f"[{_STYLE.get(verdict.word, 'yellow')}]{verdict.word}[/]"
        own = [beside.get(verdict.rule, "")] if beside else []
        table.add_row(verdict.rule, word, *own, escape(verdict.evidence))
    console.print(table)
    console.print(f"{host}: " + ", ".join(f"{number} {word}" for word, number in count.most_common()))
    if set(count) == {"notapplicable"}:
        console.print(f"{escape(pack.title)} does not apply to this host: choose content for the host's release.")
    return worst


def _take_path_or_require_datastream(name: str) -> Path:
    return Path(name) if "/" in name else require_datastream(name)


def load_site_skill(settings: Settings, name: str, host: str) -> Skill:
    """Return the skill with the host's site values; with the defaults if there is no database."""
    if not has_database(settings):
        return load_skill(name)
    return load_skill_with_site_values(name, host, open_and_migrate_database(settings.database_path_or_url))


def resolve_rule_ids_or_all(rules: Sequence[str], skill: Skill) -> list[str]:
    names = {rule.stig_id: rule.id for rule in skill.rules.values()}
    for rule in rules:
        if rule not in skill.rules and rule not in names:
            near = ", ".join(suggest_rules(rule, skill)) or "none"
            raise BadInput(f"There is no rule {rule[:80]!a} in {skill.title}; the nearest: {near}.")
    return [names.get(rule, rule) for rule in rules] or list(skill.rules)


async def _scan_for_openscap_verdicts_and_builtin_words(
    settings: Settings, host: str, skill: Skill, rules: Sequence[str]
) -> tuple[list[Verdict], dict[str, str]]:
    """Return OpenSCAP's verdicts and the built-in verdicts by rule, where a built-in check exists."""
    async with open_scanner_and_target(skill, host, settings.hosts_folder) as (scanner, target):
        assert isinstance(scanner, OpenScapScanner)
        verdicts = await scanner.judge_rules(rules)
        checks = {rule.id: rule.check for rule in load_skill("stig").rules.values()}
        files = await target.run_blocking(lambda target: target.files)
        beside = await BuiltinScanner(checks).scan(files, [rule for rule in rules if rule in checks])
    return verdicts, {one.rule: one.word for one in beside}


def import_tailoring_file(file: Path, content: str, name: str) -> None:
    try:
        with file.open("rb") as opened:
            document = opened.read(MOST_BYTES + 1)
    except OSError as exc:
        raise BadInput(f"{file} cannot be read: {exc.strerror or exc}.") from exc
    usual_name = file.name.removesuffix(ENDING).removesuffix(".xml").lower()
    for one in validate_and_store_tailoring(document, content, name or usual_name):
        rules = f"rules: {one.profile.rules}, {one.left_out} not applicable by tailoring"
        print_line(f"{one.profile.title}: {rules}. Use it with --skill {one.skill_name}")


def write_tailoring(settings: Settings, wish: TailoringSpec, out: str) -> None:
    with Session(open_existing_database(settings)) as session:
        content = export_tailoring(session, wish, database_time(session), settings.hosts_folder)
    write_output([content], out, wish.file_name)
