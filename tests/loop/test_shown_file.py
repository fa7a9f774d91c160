"""A file is shown by its lines' numbers, and a line that is not told as it stands cannot be named."""

from app.loop.shown_file import show_file
from tests.hostfiles import DictFiles

PATH = "/etc/dnf/dnf.conf"


def of(text, limit=1800, words=()):
    return show_file(PATH, DictFiles({PATH: text}), (PATH,), words, limit)


def test_lines_have_the_numbers_of_the_file():
    file = of("[main]\n\ngpgcheck=0\n")
    assert file.text() == "1: [main]\n3: gpgcheck=0"
    assert not file.cut


def test_what_the_rule_names_is_shown_first_and_what_is_left_out_is_known():
    text = "".join(f"# word {n}\n" for n in range(50)) + "best=True\ngpgcheck=0\n"
    file = of(text, 40, ("gpgcheck",))
    assert file.whole == {51: "best=True", 52: "gpgcheck=0"}
    assert file.cut


def test_a_secret_is_taken_out_and_its_line_has_no_number_to_be_named_by():
    file = of("[main]\nproxy_password=CANARY\nbest=True\n")
    assert "CANARY" not in file.text()
    assert 2 not in file.whole
    assert file.whole[3] == "best=True"


def test_a_line_that_was_cleaned_cannot_be_named():
    assert of("a\x07b\nc\n").whole == {2: "c"}


def test_a_file_that_is_not_there_is_said_to_be_so():
    file = show_file("/etc/dnf/none.conf", DictFiles({}), ("/etc/dnf/none.conf",), (), 100)
    assert file.is_absent
    assert file.text() == "(no such file)"
