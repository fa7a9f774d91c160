"""Checks of kernel settings that files of sysctl.d set at the start, as both programs that load them read the files."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.login_defs_auditd_and_dnf_options import WantedOption
from app.skills.stig.checks.verdict_builder import RuleJudge, escape_and_shorten_host_text, format_location
from app.syntax import host_text, key_value_config_parsers, sysctl
from app.syntax.host_files_protocol import Files
from app.syntax.setting import Setting
from app.targets.effects.sysctl import ProcpsSysctl, SystemdSysctl

DROP_IN = "/etc/sysctl.d/99-temper.conf"
_DROP_INS, _ALL = ("/etc/sysctl.d/*.conf",), ("/etc/sysctl.d/*.conf", "/etc/sysctl.conf")
_LOADERS = ((SystemdSysctl(), _DROP_INS), (ProcpsSysctl(), _ALL))
"""The programs, each with the patterns of its files that may be changed, in reading order."""


def create_kernel_setting_check(rule: str, wanted: WantedOption) -> Check:
    """Check that files state the setting and that it has an accepted value after they are loaded."""
    bench, key = RuleJudge(rule, DROP_IN), wanted.key

    def check_files(files: Files) -> Verdict:
        if _LOADERS[0][0].load_files(files).find_value(key) is None:
            return bench.fails(f"No file of sysctl.d states {key}; {wanted.words} is wanted.")
        lines = _find_changeable_lines(files, key)
        for loader, patterns in _LOADERS:
            value = loader.read_settings(files).get(key, "")
            if not _is_accepted(wanted, value):
                read = [one for one in lines if any(fnmatchcase(one.path, pattern) for pattern in patterns)]
                found = (
                    f"{loader.name} sets {key} to '{escape_and_shorten_host_text(value)}'; {wanted.words} is wanted."
                )
                return bench.fails(f"{found}{_describe_last_line(wanted, read)}", read[-1] if read else None)
        if lines:
            return bench.passes_at(lines[-1], f"sets {key} to '{escape_and_shorten_host_text(lines[-1].value)}'.")
        return bench.passes(f"A file that the system ships sets {key} to {wanted.words}.")

    return check_files


def _is_accepted(wanted: WantedOption, value: str) -> bool:
    return wanted.accepts(sysctl.normalize_number(value))


def _describe_last_line(wanted: WantedOption, lines: Sequence[Setting]) -> str:
    if not lines:
        return ""
    if _is_accepted(wanted, lines[-1].value):
        return f" {format_location(lines[-1])} is right, but another setting that is loaded changes it."
    return f" The last line for it is {format_location(lines[-1])}."


def _find_changeable_lines(files: Files, key: str) -> list[Setting]:
    """Return the lines for the setting in the files that may be changed, in reading order."""
    paths = [path for pattern in _ALL for path in host_text.glob_paths_like_shell(files, pattern)]
    return [
        one
        for one in key_value_config_parsers.read_setting_files(files, paths, sysctl.parse_sysctl_options)
        if one.key == key
    ]
