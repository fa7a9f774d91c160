"""Checks of logins: idle timeout, number of logins, mode of /etc/shadow."""

from app.scanners.verdict import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.options import between
from app.skills.stig.checks.verdicts import Bench, place, shown
from app.syntax import limits, source
from app.syntax.files import Files
from app.syntax.limits import Limit
from app.syntax.setting import Setting
from app.syntax.shell import Assignment, assignments, declarations

TMOUT = "/etc/profile.d/tmout.sh"
SCRIPTS = "/etc/profile.d/*.sh"
STARTS = ("/etc/profile", "/etc/bashrc")
SHADOW = "/etc/shadow"
_NOT_COUNTED = "under a condition, elsewhere, or behind a line that made it readonly"


def idle_timeout(rule: str, most: int) -> Check:
    bench, accepts = Bench(rule, TMOUT), between(1, most)

    def check(files: Files) -> Verdict:
        scripts = source.glob(files, SCRIPTS)
        given = [a for path in [*scripts, *STARTS] for a in _timeouts(files, path)]
        wrong = next((a for a in given if a.unset or not accepts(a.value)), None)
        if wrong is not None:
            does = "unsets TMOUT" if wrong.unset else f"sets TMOUT to '{shown(wrong.value)}'"
            at = _setting(wrong)
            return bench.fails(f"{place(at)} {does}; 1 to {most} is wanted wherever it is set.", at)
        sure = [a for a in _taken(files, scripts) if a.surely and a.path in scripts]
        if not sure:
            under = f" {place(_setting(given[0]))} sets it where it does not count: {_NOT_COUNTED}." if given else ""
            return bench.fails(f"No script in /etc/profile.d sets TMOUT for every login shell.{under}")
        at = _setting(sure[-1])
        return bench.passes(f"{place(at)} sets TMOUT to {at.value}.", at)

    return check


def _taken(files: Files, scripts: list[str]) -> list[Assignment]:
    """Return the assignments of TMOUT that take effect; a readonly variable keeps its value."""
    found = []
    for one in (one for path in scripts for one in declarations(source.text(files, path) or "", path)):
        if one.name == "TMOUT":
            found += [one] if one.stated else []
            if one.readonly and one.surely:
                break
    return found


def _timeouts(files: Files, path: str) -> list[Assignment]:
    text = source.text(files, path)
    return [] if text is None else [a for a in assignments(text, path) if a.name == "TMOUT"]


def _setting(found: Assignment) -> Setting:
    return Setting(found.name, found.value, found.path, found.line)


def login_limit(rule: str, most: int) -> Check:
    bench, accepts = Bench(rule, limits.MAIN), between(1, most)

    def check(files: Files) -> Verdict:
        rows = [row for row in limits.effective(files) if row.item == "maxlogins" and row.hard]
        wrong = next((row for row in rows if not accepts(row.value)), None)
        if wrong is not None:
            at = _row(wrong)
            who = "everybody" if wrong.domain == "*" else f"'{shown(wrong.domain)}'"
            return bench.fails(f"{place(at)} allows {who} '{shown(wrong.value)}' logins; 1 to {most} is wanted.", at)
        stated = [row for row in rows if row.domain == "*"]
        if not stated:
            return bench.fails(f"No row `* hard maxlogins {most}` stands in limits.conf or limits.d.")
        at = _row(stated[-1])
        return bench.passes(f"{place(at)} holds everybody to {at.value} logins.", at)

    return check


def _row(row: Limit) -> Setting:
    return Setting(row.item, row.value, row.path, row.line)


def hashes_closed(rule: str) -> Check:
    bench = Bench(rule, SHADOW)

    def check(files: Files) -> Verdict:
        state = files.state(SHADOW)
        if state is None:
            return bench.absent()
        mode = state.mode & 0o7777
        if mode:
            return bench.fails(f"{SHADOW} has mode {mode:04o}; 0000 is wanted.")
        return bench.passes(f"{SHADOW} has mode 0000.")

    return check
