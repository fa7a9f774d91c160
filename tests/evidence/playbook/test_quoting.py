import shlex
import subprocess

import yaml as reader
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.evidence.playbook.line_edits_from_recorded_changes import PlaybookEdit
from app.evidence.playbook.quoting import list_judge_script_arguments, to_comment, to_rule_tag, to_yaml
from tests.thorough import examples

HOSTILE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60) | st.sampled_from(
    ["{{ lookup('pipe', 'id') }}", "{% raw %}", "!!python/object:os.system", "$(id)", "`id`", "'; id; '", "0644", "yes"]
)


class Loader(reader.SafeLoader):
    pass


def _unsafe(loader, node):
    """As Ansible does: what is marked is resolved by its looks, quoted or not."""
    assert "{{" in node.value or "{%" in node.value or "{#" in node.value
    assert loader.resolve(reader.ScalarNode, node.value, (True, False)) == "tag:yaml.org,2002:str"
    return ("unsafe", node.value)


Loader.add_constructor("!unsafe", _unsafe)


@settings(max_examples=examples(200), deadline=None)
@example("{{ 1 }}")
@example("")
@example("a long line \t\x0b" * 40)
@example("x" + " " * 300)
@example("\x85\u2028\ufeff\ud7ff\U0001f600")
@given(HOSTILE)
def test_a_text_comes_out_of_yaml_as_it_went_in_and_never_as_a_template(text):
    (back,) = reader.load("top:" + to_yaml({"a": [{"b": text}]}, 2), Loader)["top"]["a"]
    if isinstance(back["b"], tuple):
        assert back["b"] == ("unsafe", text)
    else:
        assert back["b"] == text
        assert "{{" not in text
        assert "{%" not in text
        assert "{#" not in text


@settings(max_examples=examples(100), deadline=None)
@given(HOSTILE, HOSTILE)
def test_a_comment_is_a_comment_and_a_tag_is_a_word(one, two):
    assert all(line.startswith("# ") for line in to_comment([one, two]).splitlines())
    assert to_comment([one, two]).count("\n") == 2
    assert shlex.split(to_rule_tag(one)) == [to_rule_tag(one)]
    assert "/" not in to_rule_tag(one)
    assert to_rule_tag(one) not in (".", "..")


@settings(max_examples=examples(20), deadline=None)
@given(HOSTILE, HOSTILE)
def test_bash_gets_the_words_that_were_meant(old, new):
    meant = list_judge_script_arguments(PlaybookEdit("replace", "/etc/motd", old, new, later=(old,)))
    line = f"EDITS=({shlex.join(meant)})\nprintf '%s\\0' \"${{EDITS[@]}}\""
    ran = subprocess.run(["bash", "-c", line], capture_output=True, check=True)
    assert ran.stdout.decode().split("\0")[:-1] == meant
