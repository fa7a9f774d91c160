"""Checks of faillock and pwquality: their files, and PAM arguments that override them."""

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.login_defs_auditd_and_dnf_options import (
    WantedOption,
    create_last_line_check,
    format_to_quoted_value,
)
from app.skills.stig.checks.verdict_builder import RuleJudge, format_location
from app.syntax import host_text, key_value_config_parsers
from app.syntax.host_files_protocol import Files
from app.syntax.host_text import create_range_predicate, fold_case
from app.syntax.pam import parse_service
from app.syntax.setting import Setting

FAILLOCK = "/etc/security/faillock.conf"
PWQUALITY = "/etc/security/pwquality.conf"
PWQUALITY_FOLDER = "/etc/security/pwquality.conf.d/*.conf"
PAM_FILES = ("/etc/pam.d/system-auth", "/etc/pam.d/password-auth")


def create_lockout_threshold_check(rule: str, most: int) -> Check:
    return _create_faillock_check(rule, WantedOption("deny", create_range_predicate(1, most), f"1 to {most}"))


def create_root_lockout_check(rule: str) -> Check:
    """Check the flag even_deny_root, whose value pam_faillock ignores."""
    return _create_faillock_check(rule, WantedOption("even_deny_root", lambda _: True, "the line even_deny_root"))


def create_permanent_lockout_check(rule: str) -> Check:
    return _create_faillock_check(rule, WantedOption("unlock_time", create_range_predicate(0, 0), "0"))


def _create_faillock_check(rule: str, wanted: WantedOption) -> Check:
    stated = create_last_line_check(RuleJudge(rule, FAILLOCK), key_value_config_parsers.parse_options, wanted)
    return add_pam_override_check(stated, "pam_faillock.so", wanted)


def create_password_length_check(rule: str, least: int) -> Check:
    """Check minlen in all files, of which libpwquality reads pwquality.conf last."""
    bench = RuleJudge(rule, PWQUALITY)
    wanted = WantedOption("minlen", create_range_predicate(least, 999_999_999), f"{least} or more")

    def check_files(files: Files) -> Verdict:
        paths = [*host_text.glob_paths_like_shell(files, PWQUALITY_FOLDER), PWQUALITY]
        stated = key_value_config_parsers.read_setting_files(files, paths, key_value_config_parsers.parse_options)
        lines = [s for s in stated if fold_case(s.key) == wanted.key]
        wrong = next((s for s in lines if not wanted.accepts(s.value)), None)
        if wrong is not None:
            right = next((f"{format_location(s)} is right, but " for s in lines if wanted.accepts(s.value)), "")
            return bench.fails(
                f"{right}{format_location(wrong)} sets minlen{format_to_quoted_value(wrong)}; "
                f"{wanted.words} is wanted.",
                wrong,
            )
        if not lines:
            return bench.fails(f"Neither {PWQUALITY} nor its folder states minlen; {wanted.words} is wanted.")
        return bench.passes_at(lines[-1], f"sets minlen{format_to_quoted_value(lines[-1])}, and no file asks for less.")

    return add_pam_override_check(check_files, "pam_pwquality.so", wanted)


def add_pam_override_check(file_check: Check, module: str, wanted: WantedOption) -> Check:
    """Return `file_check`, failing also if an argument of the PAM module replaces the value of the file."""

    def check_files(files: Files) -> Verdict:
        verdict = file_check(files)
        if verdict.word != "pass":
            return verdict
        for argument in _find_arguments(files, module, wanted.key):
            if not wanted.accepts(argument.value):
                bench = RuleJudge(verdict.rule, argument.path)
                overrides = f"overrides that: {module} gets {wanted.key}{format_to_quoted_value(argument)}"
                but = f"{verdict.evidence} But {format_location(argument)} {overrides}; {wanted.words} is wanted."
                return bench.fails(but, argument)
        return verdict

    return check_files


def _find_arguments(files: Files, module: str, key: str) -> list[Setting]:
    found = []
    for path in PAM_FILES:
        text = host_text.read_text(files, path) or ""
        for line in parse_service(text, path).rules:
            if line.module == module:
                pairs = (argument.partition("=") for argument in line.arguments)
                found += [Setting(key, value, path, line.line) for name, _, value in pairs if fold_case(name) == key]
    return found
