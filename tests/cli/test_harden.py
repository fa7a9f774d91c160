import json

import pytest

from app.cli.harden import apply_starting_point
from app.errors import BadInput
from app.runs.order import Order


def test_open_rules_are_asked_for_and_the_log_says_from_where(tmp_path, capsys):
    file = tmp_path / "theirs.cklb"
    rules = [{"group_id": "V-257985", "status": "open"}, {"group_id": "V-5", "status": "open"}]
    file.write_text(json.dumps({"stigs": [{"rules": rules}]}))
    started = apply_starting_point(Order(note="for the audit", by="ada"), file)
    assert started.rules == ("V-257985",)
    assert started.note.startswith("for the audit; open rules of theirs.cklb (sha256 ")
    assert "1 open rules are not in this skill: V-5." in capsys.readouterr().err


def test_either_a_file_or_rules(tmp_path):
    with pytest.raises(BadInput, match="--from or --rules, not both"):
        apply_starting_point(Order(rules=("V-257985",), by="ada"), tmp_path)
