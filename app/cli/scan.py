"""`temper scan` and `temper scap`: scan a host with OpenSCAP and manage SCAP content."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.cli.existing_database import has_database
from app.cli.listing import print_json, print_rows
from app.config import Settings
from app.errors import BadInput
from app.events.vocabulary import Word
from app.runs.parameters import load_skill_with_site_values
from app.runs.scanner import create_scanner, prepare_new_fixture
from app.runs.tailoring_import import list_tailored_profiles
from app.scanners.openscap.benchmark import read_benchmark
from app.scanners.openscap.content import add_benchmark, find_datastream, list_datastreams
from app.scanners.openscap.scanner import OpenScapScanner
from app.scanners.scanner import BuiltinScanner, Verdict
from app.skills.catalog import load_skill, suggest_rules
from app.skills.skill import Skill
from app.store.db import open_database
from app.store.parameters import StoredParameters
from app.targets.host_registry import open_target
from app.targets.target_thread import TargetThread

ALL_HOLD, SOME_DO_NOT = 0, 2
_STYLE: dict[Word, str] = {
    "pass": "green",
    "fail": "red",
    "error": "yellow",
    "unknown": "yellow",
    "notapplicable": "dim",
}


@dataclass(frozen=True)
class ContentLine:
    content: str
    file: str


@dataclass(frozen=True)
class ProfileLine:
    profile: str
    rules: int
    title: str


@dataclass(frozen=True)
class ScanLine:
    rule: str
    openscap: Word
    built_in: str | None
    """Verdict of the built-in check; None if there is none."""
    why: str


def list_content(name: str, *, as_json: bool = False) -> None:
    if not name:
        files = [ContentLine(known, str(file)) for known, file in list_datastreams().items()]
        return print_rows(
            files, "No data streams found. Install some, for example with apt-get install ssg-debian.", as_json=as_json
        )
    benchmark = read_benchmark(_find_content_file(name))
    if not as_json:
        Console().print(escape(f"{benchmark.title} {benchmark.version}"))
    profiles = [ProfileLine(one.short_id, one.rules, one.title) for one in benchmark.profiles]
    profiles += [
        ProfileLine(f"{one.profile.short_id}:{one.tailoring}", one.profile.rules, one.profile.title)
        for one in list_tailored_profiles()
        if list_datastreams().get(one.content) == _find_content_file(name)
    ]
    return print_rows(profiles, f"{name} has no profiles.", as_json=as_json)


def add_content(file: Path) -> None:
    kept = add_benchmark(file)
    known = [name for name, here in list_datastreams().items() if here == kept]
    named = f"Added {kept.name}. The evidence of new runs uses its rule ids, CCIs and texts."
    Console().print(f"Added as {known[0]}. Use it with --skill scap:{known[0]}:PROFILE." if known else named)


def scan_host(settings: Settings, host: str, content: str, profile: str, rules: Sequence[str], *, as_json: bool) -> int:
    name = f"scap:{content.removesuffix('.xml').removesuffix('-ds')}:{profile}"
    stored = StoredParameters(open_database(settings.database_location)) if has_database(settings) else None
    pack = load_skill_with_site_values(name, host, stored) if stored else load_skill(name)
    verdicts, beside = asyncio.run(_judge_host(settings, host, pack, _resolve_rule_ids(rules, pack)))
    console, count = Console(), Counter(verdict.word for verdict in verdicts)
    worst = SOME_DO_NOT if set(count) - {"pass", "notapplicable"} else ALL_HOLD
    if as_json:
        print_json([ScanLine(one.rule, one.word, beside.get(one.rule), one.evidence) for one in verdicts])
        return worst
    table = Table("rule", "OpenSCAP", *(["built-in"] if beside else []), "why", box=None)
    for verdict in verdicts:
        word = f"[{_STYLE[verdict.word]}]{verdict.word}[/]"
        own = [beside.get(verdict.rule, "")] if beside else []
        table.add_row(verdict.rule, word, *own, escape(verdict.evidence))
    console.print(table)
    console.print(f"{host}: " + ", ".join(f"{number} {word}" for word, number in count.most_common()))
    if set(count) == {"notapplicable"}:
        console.print(f"{escape(pack.title)} does not apply to this host: choose content for the host's release.")
    return worst


def _find_content_file(name: str) -> Path:
    return Path(name) if "/" in name else find_datastream(name)


def _resolve_rule_ids(rules: Sequence[str], pack: Skill) -> list[str]:
    names = {rule.stig_id: rule.id for rule in pack.rules.values()}
    for rule in rules:
        if rule not in pack.rules and rule not in names:
            near = ", ".join(suggest_rules(rule, pack)) or "none"
            raise BadInput(f"There is no rule {rule[:80]!a} in {pack.title}; the nearest: {near}.")
    return [names.get(rule, rule) for rule in rules] or list(pack.rules)


async def _judge_host(
    settings: Settings, host: str, pack: Skill, rules: Sequence[str]
) -> tuple[list[Verdict], dict[str, str]]:
    """Return OpenSCAP's verdicts and the built-in verdicts by rule, where a built-in check exists."""
    target = TargetThread(open_target(host, settings.hosts_folder))
    try:
        await target.run_blocking(prepare_new_fixture)
        scanner = await target.run_blocking(lambda target: create_scanner(pack, target, settings.hosts_folder))
        assert isinstance(scanner, OpenScapScanner)
        verdicts = await scanner.judge_rules(rules)
        own = {rule.id: rule.check for rule in load_skill("stig").rules.values()}
        beside = await BuiltinScanner(own).scan(
            await target.run_blocking(lambda target: target.files), [rule for rule in rules if rule in own]
        )
        return verdicts, {one.rule: one.word for one in beside}
    finally:
        await target.close()
