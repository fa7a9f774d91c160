"""Checks of logins: idle timeout, number of logins, mode of /etc/shadow."""

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.verdict_builder import RuleJudge, escape_and_shorten_host_text, format_location
from app.syntax import host_text, key_value_config_parsers, limits_conf
from app.syntax.host_files_protocol import Files
from app.syntax.host_text import create_range_predicate
from app.syntax.shell_assignments import Assignment, parse_assignments, parse_assignments_and_readonly_names

TMOUT = "/etc/profile.d/tmout.sh"
SCRIPTS = "/etc/profile.d/*.sh"
STARTS = ("/etc/profile", "/etc/bashrc")
SHADOW = "/etc/shadow"
_NOT_COUNTED = "under a condition, elsewhere, or behind a line that made it readonly"


def create_idle_timeout_check(rule: str, most: int) -> Check:
    bench, accepts = RuleJudge(rule, TMOUT), create_range_predicate(1, most)

    def check_files(files: Files) -> Verdict:
        scripts = host_text.glob_paths_like_shell(files, SCRIPTS)
        stated = key_value_config_parsers.read_setting_files(files, [*scripts, *STARTS], parse_assignments)
        given = [one for one in stated if one.name == "TMOUT"]
        wrong = next((a for a in given if a.unset or not accepts(a.value)), None)
        if wrong is not None:
            does = "unsets TMOUT" if wrong.unset else f"sets TMOUT to '{escape_and_shorten_host_text(wrong.value)}'"
            return bench.fails_at(wrong, f"{does}; 1 to {most} is wanted wherever it is set.")
        sure = [a for a in _list_timeout_assignments_until_readonly(files, scripts) if a.surely and a.path in scripts]
        if not sure:
            under = f" {format_location(given[0])} sets it where it does not count: {_NOT_COUNTED}." if given else ""
            return bench.fails(f"No script in /etc/profile.d sets TMOUT for every login shell.{under}")
        return bench.passes_at(sure[-1], f"sets TMOUT to {sure[-1].value}.")

    return check_files


def _list_timeout_assignments_until_readonly(files: Files, scripts: list[str]) -> list[Assignment]:
    """Return the assignments of TMOUT that take effect; a readonly variable keeps its value."""
    found = []
    for one in key_value_config_parsers.read_setting_files(files, scripts, parse_assignments_and_readonly_names):
        if one.name == "TMOUT":
            found += [one] if one.stated else []
            if one.readonly and one.surely:
                break
    return found


def create_login_limit_check(rule: str, most: int) -> Check:
    bench, accepts = RuleJudge(rule, limits_conf.MAIN), create_range_predicate(1, most)

    def check_files(files: Files) -> Verdict:
        rows = [row for row in limits_conf.read_limits(files) if row.item == "maxlogins" and row.is_hard]
        wrong = next((row for row in rows if not accepts(row.value)), None)
        if wrong is not None:
            who = "everybody" if wrong.domain == "*" else f"'{escape_and_shorten_host_text(wrong.domain)}'"
            return bench.fails_at(
                wrong, f"allows {who} '{escape_and_shorten_host_text(wrong.value)}' logins; 1 to {most} is wanted."
            )
        stated = [row for row in rows if row.domain == "*"]
        if not stated:
            return bench.fails(f"No row `* hard maxlogins {most}` stands in limits.conf or limits.d.")
        return bench.passes_at(stated[-1], f"holds everybody to {stated[-1].value} logins.")

    return check_files


def create_shadow_mode_check(rule: str) -> Check:
    bench = RuleJudge(rule, SHADOW)

    def check_files(files: Files) -> Verdict:
        state = files.state(SHADOW)
        if state is None:
            return bench.report_absent()
        mode = state.mode & 0o7777
        if mode:
            return bench.fails(f"{SHADOW} has mode {mode:04o}; 0000 is wanted.")
        return bench.passes(f"{SHADOW} has mode 0000.")

    return check_files
