"""A run's fixes as a bash script for machines that Temper cannot reach."""

import shlex
from pathlib import Path

from app.evidence.playbook.fixes import Fix, PortableFixes, collect_portable_fixes
from app.evidence.playbook.quoting import (
    describe_origin,
    format_exclusion_lines,
    list_fix_comment_lines,
    list_judge_script_arguments,
    read_reload_script,
    to_comment,
    to_rule_tag,
)
from app.evidence.run_record import RunRecord

_HERE = Path(__file__).parent


def build_script(case: RunRecord) -> bytes:
    return render_script(collect_portable_fixes(case), case.run, describe_origin(case))


def render_script(fixes: PortableFixes, run: str, origin: str) -> bytes:
    parts = [
        "#!/usr/bin/env bash\n",
        to_comment([origin, "Left out:", *format_exclusion_lines(fixes)]),
        f"set -u\nRUN={shlex.quote(to_rule_tag(run))}\n\n",
        (_HERE / "judge.sh").read_text(),
        "\n",
        read_reload_script(),
        "\n",
        (_HERE / "harden.sh").read_text(),
        *map(_render_rule_call, fixes.fixes),
        '\n[ -z "$FAILED" ] || { say "Not done:$FAILED" >&2; exit 2; }\n',
    ]
    return "".join(parts).encode("utf-8", "replace")


def _render_rule_call(fix: Fix) -> str:
    checks = [word for check in fix.checks for word in (check.asks, check.script)]
    edits = [
        word
        for edit in fix.edits
        for word in (str(len(list_judge_script_arguments(edit))), *list_judge_script_arguments(edit))
    ]
    return (
        f"\n{to_comment(list_fix_comment_lines(fix))}"
        f"ID={shlex.quote(to_rule_tag(fix.rule.id))}\n"
        f"TITLE={shlex.quote(' '.join(fix.rule.title.split()))}\n"
        f"PATHS=({shlex.join(fix.paths)})\n"
        f"SERVICES=({shlex.join(fix.services)})\n"
        f"CHECKS=({shlex.join(checks)})\n"
        f"EDITS=({shlex.join(edits)})\n"
        f"DEEDS=({shlex.join(word for one in fix.deeds for word in (one.look, one.do, one.undo))})\n"
        "rule\n"
    )
