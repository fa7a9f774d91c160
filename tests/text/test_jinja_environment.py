import pytest
from jinja2 import Environment, UndefinedError

from app.text.jinja_environment import create_environment


@pytest.fixture
def templates(tmp_path):
    (tmp_path / "greeting.txt").write_text("Hello {{ name }}")
    return create_environment(tmp_path)


def test_what_is_put_in_is_escaped_whatever_the_file_is_called(templates):
    assert templates.get_template("greeting.txt").render(name="<b>") == "Hello &lt;b&gt;"


def test_a_name_that_nobody_gave_is_a_fault(templates):
    with pytest.raises(UndefinedError, match="name"):
        templates.get_template("greeting.txt").render()


def test_what_was_compiled_once_is_taken_by_the_next_until_the_file_says_something_else(tmp_path, templates):
    def rendered():
        made = create_environment(tmp_path)
        compiled = []
        made.compile = lambda *args, **named: compiled.append(args[1]) or Environment.compile(made, *args, **named)
        return made.get_template("greeting.txt").render(name="<b>"), compiled

    assert rendered() == ("Hello &lt;b&gt;", ["greeting.txt"])
    assert rendered() == ("Hello &lt;b&gt;", [])
    (tmp_path / "greeting.txt").write_text("Bye {{ name }}")
    assert rendered() == ("Bye &lt;b&gt;", ["greeting.txt"])


def test_where_nothing_can_be_kept_it_is_compiled_all_the_same(tmp_path, templates):
    (tmp_path / "__pycache__").write_text("a file in the way")
    assert templates.get_template("greeting.txt").render(name="you") == "Hello you"
    assert create_environment(tmp_path).get_template("greeting.txt").render(name="you") == "Hello you"
