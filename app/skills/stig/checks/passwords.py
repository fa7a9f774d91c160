"""Checks of faillock and pwquality: their files, and PAM arguments that override them."""

from app.scanners.verdict import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.options import WantedOption, between, last_line, to
from app.skills.stig.checks.verdicts import Bench, place
from app.syntax import keyvalue, source
from app.syntax.files import Files
from app.syntax.pam import service
from app.syntax.setting import Setting
from app.syntax.source import fold

FAILLOCK = "/etc/security/faillock.conf"
PWQUALITY = "/etc/security/pwquality.conf"
PWQUALITY_FOLDER = "/etc/security/pwquality.conf.d/*.conf"
PAM_FILES = ("/etc/pam.d/system-auth", "/etc/pam.d/password-auth")


def tries(rule: str, most: int) -> Check:
    return _faillock(rule, WantedOption("deny", between(1, most), f"1 to {most}"))


def locks_root(rule: str) -> Check:
    """Check the flag even_deny_root, whose value pam_faillock ignores."""
    return _faillock(rule, WantedOption("even_deny_root", lambda _: True, "the line even_deny_root"))


def stays_locked(rule: str) -> Check:
    return _faillock(rule, WantedOption("unlock_time", between(0, 0), "0"))


def _faillock(rule: str, wanted: WantedOption) -> Check:
    stated = last_line(Bench(rule, FAILLOCK), keyvalue.options, wanted)
    return _and_in_pam(stated, "pam_faillock.so", wanted)


def password_length(rule: str, least: int) -> Check:
    """Check minlen in all files, of which libpwquality reads pwquality.conf last."""
    bench, wanted = Bench(rule, PWQUALITY), WantedOption("minlen", between(least, 999_999_999), f"{least} or more")

    def check(files: Files) -> Verdict:
        paths = [*source.glob(files, PWQUALITY_FOLDER), PWQUALITY]
        lines = [s for s in keyvalue.read(files, paths, keyvalue.options) if fold(s.key) == wanted.key]
        wrong = next((s for s in lines if not wanted.accepts(s.value)), None)
        if wrong is not None:
            right = next((f"{place(s)} is right, but " for s in lines if wanted.accepts(s.value)), "")
            return bench.fails(f"{right}{place(wrong)} sets minlen{to(wrong)}; {wanted.words} is wanted.", wrong)
        if not lines:
            return bench.fails(f"Neither {PWQUALITY} nor its folder states minlen; {wanted.words} is wanted.")
        return bench.passes(f"{place(lines[-1])} sets minlen{to(lines[-1])}, and no file asks for less.", lines[-1])

    return _and_in_pam(check, "pam_pwquality.so", wanted)


def _and_in_pam(stated: Check, module: str, wanted: WantedOption) -> Check:
    def check(files: Files) -> Verdict:
        verdict = stated(files)
        if verdict.word != "pass":
            return verdict
        for argument in _arguments(files, module, wanted.key):
            if not wanted.accepts(argument.value):
                bench = Bench(verdict.rule, argument.path)
                overrides = f"{place(argument)} overrides that: {module} gets {wanted.key}{to(argument)}"
                return bench.fails(f"{verdict.evidence} But {overrides}; {wanted.words} is wanted.", argument)
        return verdict

    return check


def _arguments(files: Files, module: str, key: str) -> list[Setting]:
    found = []
    for path in PAM_FILES:
        text = source.text(files, path) or ""
        for line in service(text, path).rules:
            if line.module == module:
                pairs = (argument.partition("=") for argument in line.arguments)
                found += [Setting(key, value, path, line.line) for name, _, value in pairs if fold(name) == key]
    return found
