"""What ansible-core alone would refuse is left out, rule by rule, and named; the rest is played as it was generated."""

import sys
from pathlib import Path

from app.scores.openscap_playbook import (
    NO_FIX,
    Playbook,
    drop_unplayable_rules,
    map_unrun_rules_to_reasons,
    remove_rules,
)

ANSIBLE = str(Path(sys.executable).with_name("ansible-playbook"))
HEAD = "---\n# made\n- hosts: all\n  vars:\n    minlen: !!str 15\n  tasks:\n"
TASK = "    - name: {rule}\n      {module}:\n        {argument}\n      tags:\n      - medium_severity\n      - {rule}\n"
FILE = TASK.format(rule="file_mode", module="ansible.builtin.file", argument="path: /etc/motd")
GONE = TASK.format(rule="kernel", module="no.such.thing", argument="name: a")
BESIDE = TASK.format(rule="kernel", module="command", argument="cmd: 'true'")


def test_rules_whose_tasks_want_a_collection_are_left_out_whole_and_the_others_stay_as_they_are(tmp_path):
    left = drop_unplayable_rules(ANSIBLE, HEAD + BESIDE + GONE + FILE, ("file_mode", "kernel", "third"), tmp_path)
    assert left == Playbook(HEAD + FILE, {"kernel": "collection no.such"})
    assert map_unrun_rules_to_reasons(left, ("file_mode", "kernel", "third")) == {
        "kernel": "collection no.such",
        "third": NO_FIX,
    }


def test_a_rule_is_known_by_its_whole_name():
    longer = FILE.replace("file_mode", "file_mode_strict")
    assert remove_rules(HEAD + FILE + longer, ["file_mode"]) == HEAD + longer
