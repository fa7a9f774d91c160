"""Checks that a kernel module cannot load, by name or alias."""

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.skills.stig.checks.verdict_builder import RuleJudge, escape_and_shorten_host_text
from app.syntax import modprobe
from app.syntax.host_files_protocol import Files

_NOTHING = {"/bin/false", "/bin/true", "/usr/bin/false", "/usr/bin/true"}


def create_module_disabled_check(rule: str, module: str) -> Check:
    bench = RuleJudge(rule, f"/etc/modprobe.d/{module}.conf")

    def check_files(files: Files) -> Verdict:
        lines = [line for line in modprobe.read_etc_module_lines(files) if line.module == module]
        installs = [line for line in lines if line.command == "install"]
        wrong = next((line for line in installs if line.rest not in _NOTHING), None)
        if wrong is not None:
            return bench.fails_at(
                wrong, f"runs '{escape_and_shorten_host_text(wrong.rest)}' to load {module}; /bin/false is wanted."
            )
        if not installs:
            return bench.fails(f"No line `install {module} /bin/false` stands in /etc/modprobe.d.")
        first = installs[0]
        if not any(line.command == "blacklist" for line in lines):
            return bench.fails_at(first, f"is right, but no line `blacklist {module}` stands beside it.")
        return bench.passes_at(first, f"runs {first.rest} instead of loading {module}, which is blacklisted too.")

    return check_files
