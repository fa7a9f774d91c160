"""Which try of a story is told: by what was learnt, else by how often it was tried."""

from pathlib import Path

import msgspec
import pytest

from app.engines.simulator.answer_script import ANSWERS, read_script
from app.errors import BadInput

OURS = Path(__file__).parent / "answers"


def approach(rule: str, attempt: int, lessons: str = "") -> str | None:
    one = read_script(OURS).pick_try(rule, attempt, lessons)
    return one.approach if one else None


def test_attempts_go_through_the_tries_and_stay_at_the_last():
    assert [approach("V-1", n) for n in (1, 2, 3, 9)] == ["Set the option."] + 3 * ["Set the option elsewhere."]


def test_a_lesson_outweighs_the_attempt():
    lesson = "- The backup logs in as root. Next time: Move the backup FIRST."
    assert approach("V-1", 1, lesson) == "Move the backup, then set the option."
    assert approach("V-1", 1, "- something else") == "Set the option."


def test_an_unknown_rule_has_no_story():
    assert approach("V-3", 1) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('["V-1"]\n[["V-1".try]]\nthougt = "x"', "thougt"),
        ('["V-1"]\n[["V-1".try]]\nthought = 3', "thought"),
        ('["V-1"]\n', "try"),
        ("nonsense", "is not a file of scripted answers"),
    ],
)
def test_a_bad_file_is_named(tmp_path, text, words):
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(BadInput, match=words) as caught:
        read_script(tmp_path)
    assert "bad.toml" in str(caught.value)


def test_a_rule_is_scripted_once(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text('["V-1"]\n[["V-1".try]]\n')
    with pytest.raises(BadInput, match=r"b\.toml: V-1 is scripted in another file"):
        read_script(tmp_path)


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(BadInput, match="is not a folder"):
        read_script(tmp_path / "nowhere")


def test_the_shipped_answers_can_be_read_and_sent():
    script = read_script(ANSWERS)
    one = script.pick_try("V-257985", 1, "")
    assert one
    assert msgspec.json.decode(msgspec.json.encode(one.actions))


SHARED = """
["V-1"]
words = { setting = "minlen" }
[["V-1".try]]
approach = "Set {setting}."
actions = [{ do = "set_option", path = "/etc/x", key = "{setting}", value = "1" }]
["V-2"]
like = "V-1"
words = { setting = 'a "quoted" one' }
"""


def test_rules_that_differ_by_a_setting_share_their_tries(tmp_path):
    (tmp_path / "shared.toml").write_text(SHARED)
    script = read_script(tmp_path)
    told = [script.pick_try(rule, 1, "") for rule in ("V-1", "V-2")]
    assert [one.approach for one in told if one] == ["Set minlen.", 'Set a "quoted" one.']
    assert [one.actions[0]["key"] for one in told if one] == ["minlen", 'a "quoted" one']


def test_a_story_like_none_is_named(tmp_path):
    (tmp_path / "bad.toml").write_text('["V-1"]\nlike = "V-2"\n["V-2"]\nlike = "V-1"\n')
    with pytest.raises(BadInput, match="V-1 uses the answers of V-2"):
        read_script(tmp_path)
    (tmp_path / "bad.toml").write_text('["V-1"]\nlike = "V-2"\n[["V-1".try]]\n')
    with pytest.raises(BadInput, match="not both"):
        read_script(tmp_path)
