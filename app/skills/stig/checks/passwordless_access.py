"""Checks against access without a password: nullok in PAM, NOPASSWD and !authenticate in sudoers."""

from collections.abc import Callable

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.lockout_and_password_length import PAM_FILES
from app.skills.stig.checks.verdict_builder import LocatedLine, RuleJudge, escape_and_shorten_host_text
from app.syntax import host_text, sudoers
from app.syntax.host_files_protocol import Files
from app.syntax.pam import parse_service
from app.syntax.sudoers import Sudoers


def create_pam_nullok_check(rule: str) -> Check:
    def check_files(files: Files) -> Verdict:
        verdicts = [_find_non_pass_verdict(RuleJudge(rule, path), files, path) for path in PAM_FILES]
        bad = sorted((v for v in verdicts if v is not None), key=lambda v: v.word != "fail")
        if bad:
            return bad[0]
        return RuleJudge(rule, PAM_FILES[0]).passes(f"No line of {' or '.join(PAM_FILES)} has nullok.")

    return check_files


def _find_non_pass_verdict(rule_judge: RuleJudge, files: Files, path: str) -> Verdict | None:
    text = host_text.read_text(files, path)
    if text is None:
        return rule_judge.report_absent()
    stack = parse_service(text, path)
    for rule in stack.rules:
        if any(argument.startswith("nullok") for argument in rule.arguments):
            return rule_judge.fails_at(
                rule, f"lets {escape_and_shorten_host_text(rule.module)} take an empty password (nullok)."
            )
    if stack.problems:
        return rule_judge.build_error_verdict_for_unreadable_setting(stack.problems[0])
    if not stack.rules:
        return rule_judge.fails(f"{path} has no PAM lines at all, so nothing checks a password.")
    return None


def create_sudo_nopasswd_check(rule: str) -> Check:
    def find_offending_grant(read: Sudoers) -> tuple[str, LocatedLine] | None:
        for grant in read.grants:
            if "NOPASSWD" in grant.tags:
                users, command = (
                    escape_and_shorten_host_text(", ".join(grant.users)),
                    escape_and_shorten_host_text(grant.command),
                )
                return f"lets {users} run {command} without a password (NOPASSWD)", grant
        return None

    return _create_sudoers_check(rule, find_offending_grant, "No grant in sudoers or its drop-ins has NOPASSWD.")


def create_sudo_authenticate_default_check(rule: str) -> Check:
    def find_offending_default(read: Sudoers) -> tuple[str, LocatedLine] | None:
        for default in read.defaults:
            if default.name == "authenticate" and default.negated:
                who = escape_and_shorten_host_text(default.scope) if default.scope else "everybody"
                return f"switches authentication off for {who} (!authenticate)", default
        return None

    clean = "No Defaults line in sudoers or its drop-ins has !authenticate."
    return _create_sudoers_check(rule, find_offending_default, clean)


def _create_sudoers_check(
    rule: str, find_offence: Callable[[Sudoers], tuple[str, LocatedLine] | None], pass_evidence: str
) -> Check:
    bench = RuleJudge(rule, sudoers.MAIN)

    def check_files(files: Files) -> Verdict:
        if files.read(sudoers.MAIN) is None:
            return bench.report_absent()
        read = sudoers.read_sudoers(files)
        found = find_offence(read)
        if found is not None:
            offends, at = found
            return bench.fails_at(at, f"{offends}.")
        if read.problems:
            return bench.build_error_verdict_for_unreadable_setting(read.problems[0])
        return bench.passes(pass_evidence)

    return check_files
