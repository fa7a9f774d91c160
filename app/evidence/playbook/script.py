"""A run's fixes as a bash script for machines that Temper cannot reach."""

import shlex
from pathlib import Path

from app.evidence.case import Case
from app.evidence.playbook.fixes import Fix, Takeaway, takeaway
from app.evidence.playbook.words import about, comment, left_out, reload, tag, told, words

_HERE = Path(__file__).parent


def script(case: Case) -> bytes:
    return script_of(takeaway(case), case.run, about(case))


def script_of(taken: Takeaway, run: str, said: str) -> bytes:
    parts = [
        "#!/usr/bin/env bash\n",
        comment([said, "Left out:", *left_out(taken)]),
        f"set -u\nRUN={shlex.quote(tag(run))}\n\n",
        (_HERE / "judge.sh").read_text(),
        "\n",
        reload(),
        "\n",
        (_HERE / "harden.sh").read_text(),
        *map(_rule, taken.fixes),
        '\n[ -z "$FAILED" ] || { say "Not done:$FAILED" >&2; exit 2; }\n',
    ]
    return "".join(parts).encode("utf-8", "replace")


def _rule(fix: Fix) -> str:
    checks = [word for check in fix.checks for word in (check.asks, check.script)]
    edits = [word for edit in fix.edits for word in (str(len(words(edit))), *words(edit))]
    return (
        f"\n{comment(told(fix))}"
        f"ID={shlex.quote(tag(fix.rule.id))}\n"
        f"TITLE={shlex.quote(' '.join(fix.rule.title.split()))}\n"
        f"PATHS=({shlex.join(fix.paths)})\n"
        f"SERVICES=({shlex.join(fix.services)})\n"
        f"CHECKS=({shlex.join(checks)})\n"
        f"EDITS=({shlex.join(edits)})\n"
        f"DEEDS=({shlex.join(word for one in fix.deeds for word in (one.look, one.do, one.undo))})\n"
        "rule\n"
    )
