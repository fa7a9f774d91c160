"""A run's fixes as a bash script for machines that Temper cannot reach."""

import shlex
from pathlib import Path

from app.evidence.playbook import quoting
from app.evidence.playbook.repeatable_fixes import Fix, PortableFixes, collect_portable_fixes
from app.evidence.run_record import RunRecord

_HERE = Path(__file__).parent


def build_script(case: RunRecord) -> bytes:
    return render_script(collect_portable_fixes(case), case.run, quoting.describe_origin(case))


def render_script(fixes: PortableFixes, run: str, origin: str) -> bytes:
    parts = [
        "#!/usr/bin/env bash\n",
        quoting.to_comment([origin, "Left out:", *quoting.format_exclusion_lines(fixes)]),
        f"set -u\nRUN={shlex.quote(quoting.to_rule_tag(run))}\n\n",
        (_HERE / "judge.sh").read_text(),
        "\n",
        quoting.read_reload_shell_function(),
        "\n",
        (_HERE / "harden.sh").read_text(),
        *map(_render_rule_call, fixes.fixes),
        '\n[ -z "$FAILED" ] || { say "Not done:$FAILED" >&2; exit 2; }\n',
    ]
    return "".join(parts).encode("utf-8", "replace")


def _render_rule_call(fix: Fix) -> str:
    checks = [word for check in fix.checks for word in (check.asks, check.script)]
    arguments = map(quoting.list_judge_script_arguments, fix.edits)
    edits = [word for words in arguments for word in (str(len(words)), *words)]
    return (
        f"\n{quoting.to_comment(quoting.list_fix_comment_lines(fix))}"
        f"ID={shlex.quote(quoting.to_rule_tag(fix.rule.id))}\n"
        f"TITLE={shlex.quote(' '.join(fix.rule.title.split()))}\n"
        f"PATHS=({shlex.join(fix.paths)})\n"
        f"SERVICES=({shlex.join(fix.services)})\n"
        f"CHECKS=({shlex.join(checks)})\n"
        f"EDITS=({shlex.join(edits)})\n"
        f"DEEDS=({shlex.join(word for one in fix.deeds for word in (one.look, one.do, one.undo))})\n"
        "rule\n"
    )
