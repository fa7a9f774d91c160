"""Checks that a kernel module cannot load, in the spelling of its name that an auditor searches for."""

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.verdict_builder import RuleJudge, escape_and_shorten_host_text
from app.syntax import host_text, modprobe
from app.syntax.host_files_protocol import Files
from app.syntax.modprobe import ModuleLine

_NOTHING = "/bin/false"


def create_module_ban_check(rule: str, module: str) -> Check:
    """Check that an install line runs /bin/false, that none loads the module, and that it is blacklisted."""
    bench, name = RuleJudge(rule, f"/etc/modprobe.d/{module}.conf"), modprobe.normalize_module_name(module)

    def check_files(files: Files) -> Verdict:
        lines = [line for line in modprobe.read_etc_module_lines(files) if line.module == name]
        installs = [line for line in lines if line.command == "install"]
        if wrong := next((line for line in installs if line.rest != _NOTHING), None):
            runs = f"runs '{escape_and_shorten_host_text(wrong.rest)}' to load {module}"
            return bench.fails_at(wrong, f"{runs}; {_NOTHING} is wanted.")
        spelled = [line for line in lines if module in _read_line_as_written(files, line).split()]
        first = next((line for line in spelled if line.command == "install"), None)
        if first is None:
            return bench.fails(f"No line `install {module} {_NOTHING}` stands in /etc/modprobe.d.")
        if not any(line.command == "blacklist" for line in spelled):
            return bench.fails_at(first, f"is right, but no line `blacklist {module}` stands beside it.")
        return bench.passes_at(first, f"runs {first.rest} instead of loading {module}, which is blacklisted too.")

    return check_files


def _read_line_as_written(files: Files, module_line: ModuleLine) -> str:
    """Return the line as it is written: parsed names have _ for -."""
    return (host_text.read_text(files, module_line.path) or "").split("\n")[module_line.line - 1]
