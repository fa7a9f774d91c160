"""Checks against access without a password: nullok in PAM, NOPASSWD and !authenticate in sudoers."""

from collections.abc import Callable

from app.scanners.verdict import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.passwords import PAM_FILES
from app.skills.stig.checks.verdicts import Bench, place, shown
from app.syntax import source, sudoers
from app.syntax.files import Files
from app.syntax.pam import service
from app.syntax.setting import Setting
from app.syntax.sudoers import Sudoers


def no_empty_passwords(rule: str) -> Check:
    def check(files: Files) -> Verdict:
        verdicts = [_nullok(Bench(rule, path), files, path) for path in PAM_FILES]
        bad = sorted((v for v in verdicts if v is not None), key=lambda v: v.word != "fail")
        if bad:
            return bad[0]
        return Bench(rule, PAM_FILES[0]).passes(f"No line of {' or '.join(PAM_FILES)} has nullok.")

    return check


def _nullok(bench: Bench, files: Files, path: str) -> Verdict | None:
    text = source.text(files, path)
    if text is None:
        return bench.absent()
    stack = service(text, path)
    for rule in stack.rules:
        if any(argument.startswith("nullok") for argument in rule.arguments):
            at = Setting("nullok", "", path, rule.line)
            return bench.fails(f"{place(at)} lets {shown(rule.module)} take an empty password (nullok).", at)
    if stack.problems:
        return bench.unreadable(path, stack.problems[0].line, stack.problems[0].text)
    if not stack.rules:
        return bench.fails(f"{path} has no PAM lines at all, so nothing checks a password.")
    return None


def no_passwordless_sudo(rule: str) -> Check:
    def offence(read: Sudoers) -> tuple[str, Setting] | None:
        for grant in read.grants:
            if "NOPASSWD" in grant.tags:
                at = Setting("NOPASSWD", "", grant.path, grant.line)
                return (
                    f"lets {shown(', '.join(grant.users))} run {shown(grant.command)} without a password (NOPASSWD)",
                    at,
                )
        return None

    return _sudo(rule, offence, "No grant in sudoers or its drop-ins has NOPASSWD.")


def sudo_authenticates(rule: str) -> Check:
    def offence(read: Sudoers) -> tuple[str, Setting] | None:
        for default in read.defaults:
            if default.name == "authenticate" and default.negated:
                who = shown(default.scope) if default.scope else "everybody"
                at = Setting("!authenticate", "", default.path, default.line)
                return f"switches authentication off for {who} (!authenticate)", at
        return None

    return _sudo(rule, offence, "No Defaults line in sudoers or its drop-ins has !authenticate.")


def _sudo(rule: str, offence: Callable[[Sudoers], tuple[str, Setting] | None], clean: str) -> Check:
    bench = Bench(rule, sudoers.MAIN)

    def check(files: Files) -> Verdict:
        if files.read(sudoers.MAIN) is None:
            return bench.absent()
        read = sudoers.effective(files)
        found = offence(read)
        if found is not None:
            sentence, at = found
            return bench.fails(f"{place(at)} {sentence}.", at)
        if read.problems:
            problem = read.problems[0]
            return bench.unreadable(problem.path, problem.line, problem.text)
        return bench.passes(clean)

    return check
