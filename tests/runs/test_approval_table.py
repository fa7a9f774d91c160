"""The table that a policy file comes to, and which of its rules decide nothing."""

from app.runs.approval_file import read_approvals
from app.runs.approval_table import build_approval_table, find_unreachable_rules

FILE = """otherwise = 0
[[rule]]
replayed = true
irreversible = false
people = 0
[[rule]]
cuts_the_line = true
people = 2
[[rule]]
category = ["I"]
people = 1
[[rule]]
category = ["I"]
breaks = ["audit"]
people = 2
"""


def test_each_sort_of_change_has_its_number_and_its_line(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(FILE)
    policy = read_approvals(path)
    lines = {(one.change, one.cuts_the_line): one for one in build_approval_table(policy)}
    new = lines["new", False]
    assert (new.cat_i, new.cat_ii) == ("1 (line 9)", "0 (line 1)")
    assert lines["new", True].cat_iii == "2 (line 6)"
    assert lines["held on another host", True].cat_i == "0 (line 2)"
    assert lines["cannot be undone", False].cat_ii == "1 (Temper's own rule)"
    assert "remote login" in lines["new", True].could_break
    assert find_unreachable_rules(policy) == [12]
