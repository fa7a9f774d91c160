"""Checks of options in files of one line each, where every line that states the option has to be right."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.login_defs_auditd_and_dnf_options import WantedOption, format_to_quoted_value
from app.skills.stig.checks.verdict_builder import RuleJudge
from app.syntax import host_text, key_value_config_parsers
from app.syntax.host_files_protocol import Files
from app.syntax.setting import BadSetting, Setting
from app.targets.subjects.stated_setting_file_families import find_stated_family

_BLANKS, _AROUND_SIGN = re.compile(r"[ \t]+"), re.compile(r" ?= ?")
Parsed = tuple[Sequence[Setting], Sequence[BadSetting]]


@dataclass(frozen=True)
class OptionSource:
    path: str
    """The file that is named if nothing states the option."""
    parse: Callable[[str, str], Parsed]
    folders: tuple[str, ...] = ()
    """Patterns of the drop-ins that may state it as well."""
    normalize: Callable[[str], str] = str
    """Maps the spellings of a key that the program takes for the same to one."""


def adapt_parser_without_problems(parse: key_value_config_parsers.Parser) -> Callable[[str, str], Parsed]:
    return lambda text, path: (parse(text, path), ())


def parse_stated_family_file(text: str, path: str) -> Parsed:
    """Parse a file that app/targets/subjects/stated_families.toml describes; keys are `SECTION/KEY`."""
    family = find_stated_family(path)
    assert family is not None, path
    return [Setting(one.key, one.value, path, one.line) for one in family.list_settings(text)], ()


def parse_stated_family_ignoring_blanks(text: str, path: str) -> Parsed:
    """Parse such a file of a program that ignores blanks around keys and values."""
    lines = (_BLANKS.sub(" ", line.strip(host_text.TRAIL)) for _, line in host_text.number_lines(text))
    return parse_stated_family_file("\n".join(_AROUND_SIGN.sub("=", line, count=1) for line in lines), path)


def create_every_line_check(rule: str, source: OptionSource, wanted: WantedOption) -> Check:
    """Check that a line states the option and that each one that does has an accepted value.

    Readers differ in whether the first or the last line counts, and an auditor takes a contradiction for a finding. A
    right line counts only in the usual spelling of its key, which an auditor searches for.
    """
    bench, key = RuleJudge(rule, source.path), source.normalize(wanted.key)

    def check_files(files: Files) -> Verdict:
        drop_ins = chain.from_iterable(host_text.glob_paths_like_shell(files, folder) for folder in source.folders)
        texts = {path: host_text.read_text(files, path) for path in (*drop_ins, source.path)}
        parsed = [source.parse(text, path) for path, text in texts.items() if text is not None]
        stated = [one for settings, _ in parsed for one in settings if source.normalize(one.key) == key]
        problem = next((one for _, problems in parsed for one in problems if one.key in {"", key}), None)
        wrong = next((one for one in stated if not wanted.accepts(one.value)), None)
        if problem is not None:
            return bench.build_error_verdict_for_unreadable_setting(problem)
        if wrong is not None:
            sets = f"sets {wanted.name}{format_to_quoted_value(wrong)}; {wanted.words} is wanted"
            return bench.fails_at(wrong, f"{sets}{' in every line' if len(stated) > 1 else ''}.")
        if any(one.key == wanted.key for one in stated):
            return bench.passes_at(stated[-1], f"sets {wanted.name}{format_to_quoted_value(stated[-1])}.")
        if not parsed:
            return bench.report_absent()
        return bench.fails(f"{source.path} does not state {wanted.name}; {wanted.words} is wanted.")

    return check_files
