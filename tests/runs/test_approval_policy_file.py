"""A file of rules is read whole or not at all, and says its line."""

import hashlib

import pytest

from app.errors import BadInput
from app.runs.approval_policy_file import build_approval_table, list_unreachable_rule_lines, read_approvals

GOOD = """otherwise = 0

[[rule]]  # whatever ends the way in
people = 2
cuts_the_line = true

[[rule]]
people = 1
category = ["I", "II"]
breaks = ["audit", "root rights"]
replayed = false
"""
TABLE = """otherwise = 0
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


def written(folder, text):
    path = folder / "approvals.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_file_is_kept_with_its_lines_and_its_digest(tmp_path):
    read = read_approvals(written(tmp_path, GOOD))
    assert (read.file, read.sha256) == ("approvals.toml", hashlib.sha256(GOOD.encode()).hexdigest())
    assert (read.otherwise, read.line, read.max_people) == (0, 1, 2)
    assert [(one.line, one.people, one.category, one.breaks) for one in read.rules] == [
        (3, 2, (), ()),
        (7, 1, ("I", "II"), ("audit", "root rights")),
    ]
    assert (read.rules[0].cuts_the_line, read.rules[1].cuts_the_line, read.rules[1].replayed) == (True, None, False)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", ":1: otherwise is missing: add otherwise = 0, 1 or 2 above the rules."),
        ("otherwise = ", ":1: this is not TOML"),
        (b"\xff", "is not UTF-8"),
        ("otherwise = 3", ":1: otherwise is a number of people: 0, 1 or 2."),
        ("otherwise = true", ":1: otherwise is a number of people"),
        ("otherwise = 0\nrules = 1", ":2: 'rules' is not a key of this table: did you mean 'rule'?"),
        ("otherwise = 0\nrule = 1", ":2: each rule is a table of its own"),
        ("otherwise = 0\n[[rule]]\npeople = 1", ":2: a rule without a condition matches every change"),
        ("otherwise = 0\n[[rule]]\nreplayed = true", ":2: people is missing"),
        ("otherwise = 0\n[[rule]]\npeople = 1.0\nreplayed = true", ":3: people is a number"),
        ("otherwise = 0\n[[rule]]\npeople = 1\nreplayed = 1", ":4: replayed should be true or false."),
        ("otherwise = 0\n[[rule]]\npeople = 1\ncategory = 'I'", ":4: category should be a list"),
        ("otherwise = 0\n[[rule]]\npeople = 1\ncategory = []", ":4: category should be a list"),
        ("otherwise = 0\n[[rule]]\npeople = 1\ncategory = ['IV']", ":4: 'IV' is not a category"),
        ("otherwise = 0\n[[rule]]\npeople = 1\nbreaks = ['root right']", "did you mean 'root rights'?"),
        (
            "otherwise = 0\n[[rule]]\npeople = 0\nirreversible = true",
            ":3: a change that cannot be undone always needs a person",
        ),
        ("otherwise = 0\n" + "[[rule]]\npeople = 1\nreplayed = true\n" * 65, "65 rules; the limit is 64"),
        ("otherwise = 0\n#" + "x" * 65536, "the limit is 65536"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_its_line(tmp_path, text, says):
    with pytest.raises(BadInput) as caught:
        read_approvals(written(tmp_path, text))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(BadInput, match=r"none\.toml cannot be read"):
        read_approvals(tmp_path / "none.toml")


def test_each_sort_of_change_has_its_number_and_its_line(tmp_path):
    policy = read_approvals(written(tmp_path, TABLE))
    lines = {(one.change, one.cuts_the_line): one for one in build_approval_table(policy)}
    new = lines["new", False]
    assert (new.cat_i, new.cat_ii) == ("1 (line 9)", "0 (line 1)")
    assert lines["new", True].cat_iii == "2 (line 6)"
    assert lines["held on another host", True].cat_i == "0 (line 2)"
    assert lines["cannot be undone", False].cat_ii == "1 (Temper's own rule)"
    assert "remote login" in lines["new", True].could_break
    assert list_unreachable_rule_lines(policy) == [12]
