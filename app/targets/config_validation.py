"""Check that changed configuration still parses, with our parsers and with the real programs, before a write."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from app.syntax.host_files_protocol import Files
from app.targets.effects.daemon_base import Ask, Query
from app.targets.program_sandbox import Confinement, ProgramOutcome
from app.targets.throwaway_sshd_host_key import HOST_KEY, get_sshd_check_key
from app.targets.validators_by_config_file import CHECKED_FILES, UNITS, CheckedFiles
from app.text.clean import clean_text

_NUMBER = re.compile(r"[0-9]+")
_UNIT = re.compile(r"[A-Za-z0-9_@:][A-Za-z0-9_@:.-]*\.(?:service|socket|timer|mount|target|path|slice|automount|swap)")
_MOST_UNITS = 16
_CRASHED = 128


def find_complaints(paths: Collection[str], before: Files, after: Files, ask: Ask) -> Iterator[str]:
    """Yield what the change breaks. A problem that existed before does not count."""
    for subject in CHECKED_FILES:
        if not any(path.startswith(subject.areas) for path in paths):
            continue
        known = {(problem.path, problem.text) for problem in subject.problems(before)}
        for problem in subject.problems(after):
            if (problem.path, problem.text) not in known:
                yield f"{problem.path} line {problem.line}: {problem.text}"
        if subject.program:
            yield from _iterate_program_complaints(subject, paths, before, after, ask)


def _iterate_program_complaints(
    subject: CheckedFiles, paths: Collection[str], before: Files, after: Files, ask: Ask
) -> Iterator[str]:
    """Yield the program's objection to the change, if it is available and has one that it did not have before.

    A program that gives no answer in time is an objection, too: nobody knows what it would make of the change.
    """
    query = _build_query(subject, paths)
    if query is None or (said := ask(after, query)) is None or (said.code == 0 and not subject.faults):
        return
    name = Path(query.program).name
    if said.code is None:
        yield f"{name} was stopped before it had read the change: {_get_last_line(said)}"
        return
    was = ask(before, query)
    if was is None:
        return
    known = {text for text, _ in _iterate_faults_without_numbers_and_as_printed(subject, was)}
    new = [line for text, line in _iterate_faults_without_numbers_and_as_printed(subject, said) if text not in known]
    if new or (_has_failing_exit_code(subject, said) and not _has_failing_exit_code(subject, was)):
        yield f"{name} refuses it: {new[0] if new else _get_last_line(said)}"


def _has_failing_exit_code(subject: CheckedFiles, outcome: ProgramOutcome) -> bool:
    """Return True if the exit code is a failure; where lines tell, only a crash is: other files may be missing.

    A program that was stopped has shown no failure, so what it did not say before excuses no later one.
    """
    return outcome.code is not None and (outcome.code >= _CRASHED if subject.faults else outcome.code != 0)


def _iterate_faults_without_numbers_and_as_printed(
    subject: CheckedFiles, outcome: ProgramOutcome
) -> Iterator[tuple[str, str]]:
    """Yield each fault without its numbers, because lines move, and as it was printed."""
    for line in outcome.output.splitlines() if subject.faults else ():
        if subject.faults and (fault := subject.faults.match(line)):
            yield _NUMBER.sub("", fault["text"]), clean_text(fault["text"], 300)


def describe_confinement(confinement: Confinement) -> str:
    """Return a description of the sandbox and of the available validators."""
    if confinement.kind == "none":
        return confinement.words
    programs = [subject.program for subject in CHECKED_FILES if subject.program and Path(subject.program).exists()]
    *names, last = dict.fromkeys(Path(program).name for program in programs) or ("",)
    words = f"{', '.join(names)} and {last}" if names else last
    return f"{confinement.words}; {f'{words} of this machine judge too' if words else 'built-in checks only'}"


def _build_query(subject: CheckedFiles, paths: Collection[str]) -> Query | None:
    """Return the question about changes of these paths; None if it would be about nothing."""
    made = ((HOST_KEY, get_sshd_check_key()),) if HOST_KEY in subject.arguments else ()
    units = sorted({unit for path in paths if (unit := _get_unit_name_or_empty(path))}) if subject.names_units else []
    if subject.names_units and not units:
        return None
    return Query(str(subject.program), (*subject.arguments, *units[:_MOST_UNITS]), subject.staged, made)


def _get_unit_name_or_empty(path: str) -> str:
    """Return the unit that a file of systemd's folder is about; empty if it is about none."""
    name = path.removeprefix(UNITS).partition("/")[0].removesuffix(".d")
    return name if path.startswith(UNITS) and _UNIT.fullmatch(name) else ""


def _get_last_line(outcome: ProgramOutcome) -> str:
    lines = [line for line in outcome.output.splitlines() if line.strip()]
    return clean_text(lines[-1], 300) if lines else "no reason given"
