"""Checks of kernel settings that files of sysctl.d set at the start, as both programs that load them read the files."""

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.options import WantedOption
from app.skills.stig.checks.verdicts import RuleJudge, format_location, quote_host_text
from app.syntax import host_text, keyvalue, sysctl
from app.syntax.files import Files
from app.syntax.setting import Setting
from app.targets.effects.sysctl import ProcpsSysctl, SystemdSysctl

DROP_IN = "/etc/sysctl.d/99-temper.conf"
_FILES = ("/etc/sysctl.d/*.conf", "/etc/sysctl.conf")
_LOADERS = (SystemdSysctl(), ProcpsSysctl())


def check_kernel_setting(rule: str, wanted: WantedOption) -> Check:
    """Check that files state the setting and that it has an accepted value after they are loaded."""
    bench, key = RuleJudge(rule, DROP_IN), wanted.key

    def check_files(files: Files) -> Verdict:
        if _LOADERS[0].load_files(files).get_value(key) is None:
            return bench.fails(f"No file of sysctl.d states {key}; {wanted.words} is wanted.")
        lines = _find_lines(files, key)
        for loader in _LOADERS:
            value = loader.read_settings(files).get(key, "")
            if wanted.accepts(sysctl.normalize_number(value)):
                continue
            at = next((one for one in reversed(lines) if not wanted.accepts(sysctl.normalize_number(one.value))), None)
            found = f"{loader.name} sets {key} to '{quote_host_text(value)}'; {wanted.words} is wanted."
            return bench.fails(f"{found} The line is {format_location(at)}." if at else found, at)
        if lines:
            return bench.passes_at(lines[-1], f"sets {key} to '{quote_host_text(lines[-1].value)}'.")
        return bench.passes(f"A file that the system ships sets {key} to {wanted.words}.")

    return check_files


def _find_lines(files: Files, key: str) -> list[Setting]:
    """Return the lines for the setting in the files that may be changed, in reading order."""
    paths = [path for pattern in _FILES for path in host_text.glob_files(files, pattern)]
    return [one for one in keyvalue.read_setting_files(files, paths, sysctl.parse_sysctl_options) if one.key == key]
