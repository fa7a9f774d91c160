"""A run's fixes as an Ansible role and playbook in a zip."""

import re
from pathlib import Path

from app.evidence.playbook import quoting
from app.evidence.playbook.line_edits_from_recorded_changes import PlaybookEdit
from app.evidence.playbook.repeatable_fixes import Fix, PortableFixes, collect_portable_fixes
from app.evidence.run_record import RunRecord
from app.evidence.verify import build_zip_chunks_with_part_names

_HERE = Path(__file__).parent
_ROLE = "roles/temper"
_SPECIAL = re.compile(r"[.^$*+?()\[\]{}|\\]")


def build_playbook(case: RunRecord) -> bytes:
    return build_playbook_zip(collect_portable_fixes(case), case.run, quoting.describe_origin(case))


def build_playbook_zip(fixes: PortableFixes, run: str, origin: str) -> bytes:
    rules = "".join(map(_render_rule_task, fixes.fixes))
    files = {
        "README.md": _render_playbook_readme(fixes, origin),
        "playbook.yml": f"---\n{quoting.to_comment([origin])}{_PLAYBOOK}",
        f"{_ROLE}/defaults/main.yml": f"---\n{_DEFAULTS.format(run=quoting.to_rule_tag(run))}",
        f"{_ROLE}/meta/main.yml": f"---\n{_META}",
        f"{_ROLE}/tasks/main.yml": f"---\n{quoting.to_comment([origin])}{_BEGIN}{rules}{_END}",
        f"{_ROLE}/tasks/rule.yml": f"---\n{(_HERE / 'rule.yml').read_text()}",
        f"{_ROLE}/vars/main.yml": f"---\n{_render_role_vars(fixes)}",
    }
    encoded = {name: text.encode("utf-8", "replace") for name, text in files.items()}
    return b"".join(chunk for _, chunk in build_zip_chunks_with_part_names(encoded))


def _render_role_vars(fixes: PortableFixes) -> str:
    asked = {check.probe: check for fix in fixes.fixes for check in fix.checks}
    checks = "".join(
        f"  {check.probe}:\n    asks: {quoting.quote_yaml(check.asks)}\n"
        f"    script: {quoting.to_yaml_block(check.script, 6)}"
        for check in asked.values()
    )
    judge = quoting.to_yaml_block((_HERE / "judge.sh").read_text(), 2)
    rules = quoting.to_yaml({quoting.to_rule_tag(fix.rule.id): _to_rule_vars(fix) for fix in fixes.fixes}, 2)
    reload = quoting.to_yaml_block(quoting.read_reload_shell_function(), 2)
    return f"temper_judge: {judge}temper_reload: {reload}temper_checks:\n{checks}temper_rules:{rules}\n"


def _to_rule_vars(fix: Fix) -> quoting.Plain:
    return {
        "tag": quoting.to_rule_tag(fix.rule.id),
        "paths": list(fix.paths),
        "edits": [_to_edit_vars(edit) for edit in fix.edits],
        "deeds": [{"look": one.look, "do": one.do, "undo": one.undo} for one in fix.deeds],
        "services": list(fix.services),
        "checks": [check.probe for check in fix.checks],
    }


def _render_rule_task(fix: Fix) -> str:
    name = quoting.to_rule_tag(fix.rule.id)
    tags = [name, quoting.to_rule_tag(fix.named.stig_id or fix.rule.stig_id), f"cat{fix.rule.category}".lower()]
    return (
        f"\n{quoting.to_comment(quoting.list_fix_comment_lines(fix))}"
        f"- name: {quoting.quote_yaml(name)}\n"
        "  ansible.builtin.import_tasks: rule.yml\n"
        f"  tags: [{', '.join(quoting.quote_yaml(one) for one in dict.fromkeys(tags))}]\n"
        f"  vars:\n    temper_rule: \"{{{{ temper_rules['{name}'] }}}}\"\n"
    )


def _to_edit_vars(edit: PlaybookEdit) -> quoting.Plain:
    return {
        "do": edit.do,
        "path": edit.path,
        "new": edit.new,
        "mode": edit.mode,
        "words": quoting.list_judge_script_arguments(edit),
        "exactly": f"^{_escape_pattern(edit.old)}[ \t\r]*$",
        "states": f"(?i){edit.states}.*$" if edit.states else "",
        "becomes": edit.new.replace("\\", "\\\\"),
        "after": f"^{_escape_pattern(edit.after)}[ \t\r]*$" if edit.after else "",
    }


def _escape_pattern(line: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", line.rstrip(" \t\r"))


def _render_playbook_readme(fixes: PortableFixes, origin: str) -> str:
    done = "".join(
        f"- {fix.named.group} {fix.named.stig_id}: {' '.join(fix.rule.title.split())}\n" for fix in fixes.fixes
    )
    left = "".join(f"- {line}\n" for line in quoting.format_exclusion_lines(fixes))
    return _README.format(about=origin, done=done or "- none\n", left=left)


_PLAYBOOK, _DEFAULTS, _META, _BEGIN, _END, _README = (
    (_HERE / name).read_text()
    for name in (
        *("playbook.yml", "role_defaults.yml", "role_meta.yml"),
        *("role_tasks_begin.yml", "role_tasks_end.yml", "role_readme.md"),
    )
)
