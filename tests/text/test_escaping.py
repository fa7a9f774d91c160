import pytest
from jinja2 import UndefinedError

from app.text.escaping import escaping


@pytest.fixture
def templates(tmp_path):
    (tmp_path / "greeting.txt").write_text("Hello {{ name }}")
    return escaping(tmp_path)


def test_what_is_put_in_is_escaped_whatever_the_file_is_called(templates):
    assert templates.get_template("greeting.txt").render(name="<b>") == "Hello &lt;b&gt;"


def test_a_name_that_nobody_gave_is_a_fault(templates):
    with pytest.raises(UndefinedError, match="name"):
        templates.get_template("greeting.txt").render()
