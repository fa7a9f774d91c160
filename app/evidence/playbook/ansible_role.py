"""A run's fixes as an Ansible role and playbook in a zip."""

import re
from pathlib import Path

from app.evidence.playbook.edits import PlaybookEdit
from app.evidence.playbook.fixes import Fix, PortableFixes, collect_portable_fixes
from app.evidence.playbook.quoting import (
    Plain,
    describe_origin,
    list_exclusions,
    list_fix_comment_lines,
    list_judge_script_arguments,
    quote_yaml,
    read_reload_script,
    to_comment,
    to_rule_tag,
    to_yaml,
    to_yaml_block,
)
from app.evidence.run_record import RunRecord
from app.evidence.verify import build_named_archive_chunks

_HERE = Path(__file__).parent
_ROLE = "roles/temper"
_SPECIAL = re.compile(r"[.^$*+?()\[\]{}|\\]")


def build_playbook(case: RunRecord) -> bytes:
    return build_playbook_zip(collect_portable_fixes(case), case.run, describe_origin(case))


def build_playbook_zip(fixes: PortableFixes, run: str, origin: str) -> bytes:
    rules = "".join(map(_render_rule_task, fixes.fixes))
    files = {
        "README.md": _render_playbook_readme(fixes, origin),
        "playbook.yml": f"---\n{to_comment([origin])}{_PLAYBOOK}",
        f"{_ROLE}/defaults/main.yml": f"---\n{_DEFAULTS.format(run=to_rule_tag(run))}",
        f"{_ROLE}/meta/main.yml": f"---\n{_META}",
        f"{_ROLE}/tasks/main.yml": f"---\n{to_comment([origin])}{_BEGIN}{rules}{_END}",
        f"{_ROLE}/tasks/rule.yml": f"---\n{(_HERE / 'rule.yml').read_text()}",
        f"{_ROLE}/vars/main.yml": f"---\n{_render_role_vars(fixes)}",
    }
    return b"".join(
        chunk
        for _, chunk in build_named_archive_chunks(
            {name: text.encode("utf-8", "replace") for name, text in files.items()}
        )
    )


def _render_role_vars(fixes: PortableFixes) -> str:
    asked = {check.probe: check for fix in fixes.fixes for check in fix.checks}
    checks = "".join(
        f"  {check.probe}:\n    asks: {quote_yaml(check.asks)}\n    script: {to_yaml_block(check.script, 6)}"
        for check in asked.values()
    )
    judge = to_yaml_block((_HERE / "judge.sh").read_text(), 2)
    rules = to_yaml({to_rule_tag(fix.rule.id): _to_rule_vars(fix) for fix in fixes.fixes}, 2)
    reload = to_yaml_block(read_reload_script(), 2)
    return f"temper_judge: {judge}temper_reload: {reload}temper_checks:\n{checks}temper_rules:{rules}\n"


def _to_rule_vars(fix: Fix) -> Plain:
    return {
        "tag": to_rule_tag(fix.rule.id),
        "paths": list(fix.paths),
        "edits": [_to_edit_vars(edit) for edit in fix.edits],
        "deeds": [{"look": one.look, "do": one.do, "undo": one.undo} for one in fix.deeds],
        "services": list(fix.services),
        "checks": [check.probe for check in fix.checks],
    }


def _render_rule_task(fix: Fix) -> str:
    name = to_rule_tag(fix.rule.id)
    tags = [name, to_rule_tag(fix.named.stig_id or fix.rule.stig_id), f"cat{fix.rule.category}".lower()]
    return (
        f"\n{to_comment(list_fix_comment_lines(fix))}"
        f"- name: {quote_yaml(name)}\n"
        "  ansible.builtin.import_tasks: rule.yml\n"
        f"  tags: [{', '.join(quote_yaml(one) for one in dict.fromkeys(tags))}]\n"
        f"  vars:\n    temper_rule: \"{{{{ temper_rules['{name}'] }}}}\"\n"
    )


def _to_edit_vars(edit: PlaybookEdit) -> Plain:
    return {
        "do": edit.do,
        "path": edit.path,
        "new": edit.new,
        "mode": edit.mode,
        "words": list_judge_script_arguments(edit),
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
    left = "".join(f"- {line}\n" for line in list_exclusions(fixes))
    return _README.format(about=origin, done=done or "- none\n", left=left)


_PLAYBOOK = """- name: What passed in a run of Temper
  hosts: "{{ temper_hosts | default('all') }}"
  gather_facts: false
  become: true
  roles:
    - temper
"""
_DEFAULTS = """\
# The files are under this folder, an image or a chroot: nothing is asked of the running host, nothing reloaded.
temper_root: ""
# Where the old files are kept, by time and rule.
temper_kept: /var/lib/temper-kept/{run}
"""
_META = """galaxy_info:
  author: Temper
  role_name: temper
  description: What passed in a run of Temper.
  license: Apache-2.0
  min_ansible_version: "2.16"
dependencies: []
"""
_BEGIN = """- name: Note when this began
  ansible.builtin.set_fact:
    temper_stamp: "{{ now(utc=true).strftime('%Y%m%dT%H%M%SZ') }}"
    temper_failed: []
  tags: [always]
"""
_END = """
- name: Say which rules were not done
  ansible.builtin.assert:
    that: temper_failed | length == 0
    fail_msg: "Not done, and left or put back as it was: {{ temper_failed | join(', ') }}"
    quiet: true
  tags: [always]
"""
_README = """# Hardening as an Ansible role

{about}

    ansible-playbook -i INVENTORY playbook.yml --check --diff
    ansible-playbook -i INVENTORY playbook.yml
    ansible-playbook -i INVENTORY playbook.yml --tags V-257985

Each rule is asked first whether it fits: a host whose files are not as the run found them, or as it left them, is left
alone, and the rule is named at the end. Then come the questions that the Sentry asked in the run, as far as a host's
own tools answer them; the old files are kept under `temper_kept`; the change; the reload, which has to show; the same
questions again; and a new login. Where one of these fails, the old files are put back. What is done already is not
touched: a second run changes nothing. Tags: the rule, its STIG id, and cati, catii or catiii. Tried with ansible-core
2.19.

## Done

{done}
## Left out

{left}"""
