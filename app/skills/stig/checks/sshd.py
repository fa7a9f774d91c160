"""Checks of sshd: options stated globally, in effect and not weakened by a Match block; the FIPS ciphers and MACs.

The latter are stated in the crypto policy's back-end.
"""

from collections.abc import Callable

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.verdict_builder import RuleJudge, escape_and_shorten_host_text, format_location
from app.syntax import host_text, sshd
from app.syntax.host_files_protocol import Files
from app.syntax.host_text import fold_case
from app.syntax.setting import Setting
from app.syntax.sshd import BACKEND, SshdConfig
from app.syntax.sshd_keywords import parse_seconds

ISSUE = "/etc/issue"
CIPHERS = ("aes256-gcm@openssh.com", "aes256-ctr", "aes128-gcm@openssh.com", "aes128-ctr")
MACS = ("hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512")
Accepts = Callable[[str], bool]


def create_sshd_option_check(rule: str, keyword: str, value: str) -> Check:
    return create_stated_sshd_value_check(rule, keyword, lambda found: fold_case(found) == value, value)


def create_sshd_time_check(rule: str, keyword: str, most: int) -> Check:
    """Check for 1 second to `most`; 0 disables the mechanism."""
    return create_stated_sshd_value_check(
        rule, keyword, lambda found: 0 < (parse_seconds(found) or 0) <= most, f"1 to {most} seconds"
    )


def create_sshd_banner_check(rule: str, notice: str = "") -> Check:
    """Check the banner. `notice`: the site's exact text; empty accepts any."""
    stated = create_stated_sshd_value_check(rule, "Banner", lambda found: found == ISSUE, ISSUE)

    def check_files(files: Files) -> Verdict:
        verdict = stated(files)
        text = files.read(ISSUE)
        if verdict.word != "pass":
            return verdict
        if text is None:
            return RuleJudge(rule, ISSUE).fails(f"{verdict.evidence} But {ISSUE} is absent: nothing is shown.")
        if notice and host_text.decode_bytes(text).split() != notice.split():
            return RuleJudge(rule, ISSUE).fails(f"{verdict.evidence} But {ISSUE} does not hold the site's notice.")
        words = sum(any(map(str.isalpha, word)) for word in host_text.decode_bytes(text).split())
        seen = f"shows {words} words" if words else "holds no word: nothing is shown"
        return Verdict(rule, "pass", f"{verdict.evidence} {ISSUE} {seen}.", verdict.path, verdict.line)

    return check_files


def create_stated_sshd_value_check(rule: str, keyword: str, accepts: Accepts, wanted: str) -> Check:
    """Check the value in force for everybody, and those in Match blocks. `wanted`: the accepted values, in words."""
    bench = RuleJudge(rule, sshd.MAIN)

    def check_files(files: Files) -> Verdict:
        if files.read(sshd.MAIN) is None:
            return bench.report_absent()
        config = sshd.read_sshd_config(files)
        for problem in config.problems:
            if problem.key in {"", fold_case(keyword)}:
                return bench.build_error_verdict_for_unreadable_setting(problem)
        setting = config.get(keyword)
        if setting is None:
            return bench.fails(
                f"{keyword} is not stated for everybody; {wanted} is wanted.{_describe_match_only(config, keyword)}"
            )
        sets = f"sets {keyword} to '{escape_and_shorten_host_text(setting.value)}'"
        if not accepts(setting.value):
            late = _describe_late_value(config, setting, accepts)
            return bench.fails_at(setting, f"{sets}; {wanted} is wanted.{late}")
        for block in config.matches:
            inside = block.get(keyword)
            if inside is not None and not accepts(inside.value):
                return bench.fails(
                    f"{format_location(setting)} is right, but {format_location(inside)} sets "
                    f"{keyword} to '{escape_and_shorten_host_text(inside.value)}' "
                    f"for Match {escape_and_shorten_host_text(block.criteria)}.",
                    inside,
                )
        return bench.passes_at(setting, f"{sets}.")

    return check_files


def _describe_match_only(config: SshdConfig, keyword: str) -> str:
    for block in config.matches:
        inside = block.get(keyword)
        if inside is not None:
            criteria = escape_and_shorten_host_text(block.criteria)
            return f" {format_location(inside)} sets it inside the block Match {criteria} alone."
    return ""


def _describe_late_value(config: SshdConfig, setting: Setting, accepts: Accepts) -> str:
    for later in config.list_global_settings(setting.key)[1:]:
        if accepts(later.value):
            return f" sshd takes the first value, so {format_location(later)} has no effect."
    return ""


def create_algorithms_check(rule: str, keyword: str, wanted: tuple[str, ...]) -> Check:
    bench = RuleJudge(rule, BACKEND)

    @bench.create_text_check
    def check_files(files: Files, text: str) -> Verdict:
        listed = sshd.find_backend_setting(text, keyword)
        if listed is None:
            return bench.fails(f"{BACKEND} has no {keyword} line; {','.join(wanted)} is wanted.")
        if listed.value != ",".join(wanted):
            return bench.fails_at(listed, _explain_unequal_fips_list(keyword, listed.value, wanted))
        in_force = sshd.read_sshd_config(files).get(keyword)
        if in_force is None:
            return bench.fails_at(listed, "has the FIPS list, but no Include of sshd_config reads that file.")
        if in_force.value != listed.value:
            return bench.fails(
                f"{format_location(listed)} has the FIPS list, but sshd meets "
                f"{format_location(in_force)} first, and that line "
                f"{_explain_unequal_fips_list(keyword, in_force.value, wanted)}",
                in_force,
            )
        return bench.passes_at(listed, f"lists exactly the FIPS {keyword}, and sshd reads it.")

    return check_files


def _explain_unequal_fips_list(keyword: str, value: str, wanted: tuple[str, ...]) -> str:
    found = value.split(",")
    extra = [name for name in found if name not in wanted]
    missing = [name for name in wanted if name not in found]
    if extra:
        return (
            f"allows {escape_and_shorten_host_text(', '.join(extra))}, which the FIPS list of {keyword} does not have."
        )
    if missing:
        return f"leaves out {', '.join(missing)} of the FIPS list of {keyword}."
    return f"has the FIPS {keyword} in another order or twice; {','.join(wanted)} is wanted."
