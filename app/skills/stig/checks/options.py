"""Checks of options in login.defs, auditd.conf and dnf.conf, each by its reader's precedence."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.scanners.verdict import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.verdicts import Bench, place, shown
from app.syntax import ini, keyvalue
from app.syntax.files import Files
from app.syntax.keyvalue import Parser
from app.syntax.setting import Setting, last
from app.syntax.source import fold, number

LOGIN_DEFS = "/etc/login.defs"
AUDITD = "/etc/audit/auditd.conf"
DNF = "/etc/dnf/dnf.conf"


@dataclass(frozen=True)
class WantedOption:
    key: str
    accepts: Callable[[str], bool]
    words: str
    """The accepted values, in words."""

    @property
    def name(self) -> str:
        return self.key.rpartition(".")[2]


def between(least: int, most: int) -> Callable[[str], bool]:
    def accepts(value: str) -> bool:
        found = number(value)
        return found is not None and least <= found <= most

    return accepts


def password_age(rule: str, most: int) -> Check:
    wanted = WantedOption("PASS_MAX_DAYS", between(1, most), f"1 to {most}")
    return last_line(Bench(rule, LOGIN_DEFS), keyvalue.login_defs, wanted)


def umask(rule: str, mask: str) -> Check:
    """Check all UMASK lines: useradd uses the last, pam_umask the first, ignoring case."""
    bench = Bench(rule, LOGIN_DEFS)

    @bench.reads
    def check(_: Files, text: str) -> Verdict:
        lines = [s for s in keyvalue.login_defs(text, LOGIN_DEFS) if fold(s.key) == "umask"]
        wrong = next((s for s in lines if s.value not in {mask, f"0{mask}"}), None)
        if wrong is not None:
            return bench.fails(f"{place(wrong)} sets {shown(wrong.key)}{to(wrong)}; {mask} is wanted.", wrong)
        stated = last(lines, "UMASK")
        if stated is None:
            return bench.fails(f"{LOGIN_DEFS} does not state UMASK; {mask} is wanted.")
        return bench.passes(f"{place(stated)} sets UMASK{to(stated)}.", stated)

    return check


def disk_full(rule: str, those: frozenset[str] = frozenset({"halt", "single"})) -> Check:
    """Check disk_full_action. SYSLOG is not accepted: no file shows that availability comes first."""
    bench = Bench(rule, AUDITD)
    words = " or ".join(one.upper() for one in sorted(those))
    wanted = WantedOption("disk_full_action", lambda value: fold(value) in those, words)

    @bench.reads
    def check(_: Files, text: str) -> Verdict:
        settings, problems = keyvalue.auditd(text, AUDITD)
        for problem in problems:
            if problem.key == wanted.key:
                return bench.unreadable(problem.path, problem.line, problem.text)
        return _judged(bench, settings, wanted)

    return check


def signatures(rule: str) -> Check:
    true = {"1", "yes", "true", "on"}
    wanted = WantedOption("main.gpgcheck", lambda value: fold(value) in true, "1 in section [main]")
    return last_line(Bench(rule, DNF), ini.options, wanted)


def last_line(bench: Bench, parse: Parser, wanted: WantedOption) -> Check:
    return bench.reads(lambda _, text: _judged(bench, parse(text, bench.path), wanted))


def _judged(bench: Bench, settings: Iterable[Setting], wanted: WantedOption) -> Verdict:
    stated = [s for s in settings if s.key == wanted.key]
    if not stated:
        return bench.fails(f"{bench.path} does not state {wanted.name}; {wanted.words} is wanted.")
    decides = stated[-1]
    if wanted.accepts(decides.value):
        return bench.passes(f"{place(decides)} sets {wanted.name}{to(decides)}.", decides)
    shadowed = next((s for s in stated if wanted.accepts(s.value)), None)
    found = f"{place(decides)} sets {wanted.name}{to(decides)}; {wanted.words} is wanted."
    late = f" The last line wins, so line {shadowed.line} has no effect." if shadowed else ""
    return bench.fails(found + late, decides)


def to(setting: Setting) -> str:
    return f" to '{shown(setting.value)}'" if setting.value else ""
