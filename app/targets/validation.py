"""Check that changed configuration still parses, with our parsers and with the real programs, before a write."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import asyncssh

from app.syntax import host_text, keyvalue, pam, sshd, sudoers
from app.syntax.files import Files
from app.syntax.setting import BadSetting
from app.targets.confinement import Confinement, ProgramOutcome
from app.targets.effects.daemon import Ask, Query
from app.text.clean import clean_text

_AUDITD = "/etc/audit/auditd.conf"
_STACKS = ("system-auth", "password-auth", "common-auth", "common-account", "common-password", "common-session")
_ACCOUNTS = ("/etc/passwd", "/etc/group")


@dataclass(frozen=True)
class CheckedFiles:
    """Files of one program, and how to check that the program still accepts them."""

    areas: tuple[str, ...]
    problems: Callable[[Files], Collection[BadSetting]]
    program: str | None
    arguments: tuple[str, ...] = ()
    staged: tuple[str, ...] = ()
    """Files of the host that the program needs for the check."""


def _find_pam_problems(files: Files) -> list[BadSetting]:
    """Return the problems of all stacks. Stacks of another family are absent both before and after the change."""
    return [problem for name in _STACKS for problem in pam.read_stack(files, f"{pam.FOLDER}/{name}").problems]


def _find_auditd_problems(files: Files) -> list[BadSetting]:
    text = host_text.read_text(files, _AUDITD)
    return [] if text is None else keyvalue.parse_auditd(text, _AUDITD)[1]


_HOST_KEY = "/check/hostkey"
_SUBJECTS = (
    CheckedFiles(
        ("/etc/ssh/sshd_config", "/etc/crypto-policies/back-ends/"),
        lambda files: sshd.read_sshd_config(files).problems,
        "/usr/sbin/sshd",
        ("-t", "-f", sshd.MAIN, "-h", _HOST_KEY),
        (sshd.MAIN, "/etc/ssh/sshd_config.d/*", "/etc/crypto-policies/back-ends/*", *_ACCOUNTS),
    ),
    CheckedFiles(
        ("/etc/sudoers",),
        lambda files: sudoers.read_sudoers(files).problems,
        "/usr/sbin/visudo",
        ("-cf", sudoers.MAIN),
        (sudoers.MAIN, "/etc/sudoers.d/*", *_ACCOUNTS),
    ),
    CheckedFiles(("/etc/pam.d/",), _find_pam_problems, None),
    CheckedFiles((_AUDITD,), _find_auditd_problems, None),
)


def find_complaints(paths: Collection[str], before: Files, after: Files, ask: Ask) -> Iterator[str]:
    """Yield what the change breaks. A problem that existed before does not count."""
    for subject in _SUBJECTS:
        if not any(path.startswith(subject.areas) for path in paths):
            continue
        known = {(problem.path, problem.text) for problem in subject.problems(before)}
        for problem in subject.problems(after):
            if (problem.path, problem.text) not in known:
                yield f"{problem.path} line {problem.line}: {problem.text}"
        if subject.program and (said := ask(after, _build_query(subject))) and said.code != 0:
            was = ask(before, _build_query(subject))
            if was is not None and was.code == 0:
                yield f"{Path(subject.program).name} refuses it: {_get_last_line(said)}"


def describe_confinement(confinement: Confinement) -> str:
    """Return a description of the sandbox and of the available validators."""
    if confinement.kind == "none":
        return confinement.words
    programs = [subject.program for subject in _SUBJECTS if subject.program and Path(subject.program).exists()]
    names = " and ".join(Path(program).name for program in programs)
    return f"{confinement.words}; {f'{names} of this machine judge too' if names else 'built-in checks only'}"


def _build_query(subject: CheckedFiles) -> Query:
    made = ((_HOST_KEY, _create_host_key()),) if _HOST_KEY in subject.arguments else ()
    return Query(str(subject.program), subject.arguments, subject.staged, made)


@cache
def _create_host_key() -> str:
    """Return a throwaway host key, which sshd needs to check a configuration."""
    return asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()


def _get_last_line(said: ProgramOutcome) -> str:
    lines = [line for line in said.output.splitlines() if line.strip()]
    return clean_text(lines[-1], 300) if lines else "no reason given"
