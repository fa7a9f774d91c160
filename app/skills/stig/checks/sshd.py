"""Checks of sshd options: stated globally, in effect, and not weakened by a Match block."""

from collections.abc import Callable

from app.scanners.verdict import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.verdicts import Bench, place, shown
from app.syntax import source, sshd
from app.syntax.files import Files
from app.syntax.setting import Setting
from app.syntax.source import fold
from app.syntax.sshd import SshdConfig
from app.syntax.sshd_keywords import seconds

ISSUE = "/etc/issue"
Accepts = Callable[[str], bool]


def states(rule: str, keyword: str, value: str) -> Check:
    return _requires(rule, keyword, lambda found: fold(found) == value, value)


def states_time(rule: str, keyword: str, most: int) -> Check:
    """Check for 1 second to `most`; 0 disables the mechanism."""
    return _requires(rule, keyword, lambda found: 0 < (seconds(found) or 0) <= most, f"1 to {most} seconds")


def shows_banner(rule: str, notice: str = "") -> Check:
    """Check the banner. `notice`: the site's exact text; empty accepts any."""
    stated = _requires(rule, "Banner", lambda found: found == ISSUE, ISSUE)

    def check(files: Files) -> Verdict:
        verdict = stated(files)
        text = files.read(ISSUE)
        if verdict.word != "pass":
            return verdict
        if text is None:
            return Bench(rule, ISSUE).fails(f"{verdict.evidence} But {ISSUE} is absent: nothing is shown.")
        if notice and source.decode(text).split() != notice.split():
            return Bench(rule, ISSUE).fails(f"{verdict.evidence} But {ISSUE} does not hold the site's notice.")
        words = sum(any(map(str.isalpha, word)) for word in source.decode(text).split())
        seen = f"shows {words} words" if words else "holds no word: nothing is shown"
        return Verdict(rule, "pass", f"{verdict.evidence} {ISSUE} {seen}.", verdict.path, verdict.line)

    return check


def _requires(rule: str, keyword: str, accepts: Accepts, wanted: str) -> Check:
    bench = Bench(rule, sshd.MAIN)

    def check(files: Files) -> Verdict:
        if files.read(sshd.MAIN) is None:
            return bench.absent()
        config = sshd.effective(files)
        for problem in config.problems:
            if problem.key in {"", fold(keyword)}:
                return bench.unreadable(problem.path, problem.line, problem.text)
        setting = config.get(keyword)
        if setting is None:
            return bench.fails(
                f"{keyword} is not stated for everybody; {wanted} is wanted.{_only_in_match(config, keyword)}"
            )
        if not accepts(setting.value):
            found = f"{place(setting)} sets {keyword} to '{shown(setting.value)}'; {wanted} is wanted."
            return bench.fails(found + _too_late(config, setting, accepts), setting)
        for block in config.matches:
            inside = block.get(keyword)
            if inside is not None and not accepts(inside.value):
                return bench.fails(
                    f"{place(setting)} is right, but {place(inside)} sets {keyword} to '{shown(inside.value)}' "
                    f"for Match {shown(block.criteria)}.",
                    inside,
                )
        return bench.passes(f"{place(setting)} sets {keyword} to '{shown(setting.value)}'.", setting)

    return check


def _only_in_match(config: SshdConfig, keyword: str) -> str:
    for block in config.matches:
        inside = block.get(keyword)
        if inside is not None:
            return f" {place(inside)} sets it inside the block Match {shown(block.criteria)} alone."
    return ""


def _too_late(config: SshdConfig, setting: Setting, accepts: Accepts) -> str:
    for later in config.all(setting.key)[1:]:
        if accepts(later.value):
            return f" sshd takes the first value, so {place(later)} has no effect."
    return ""
