import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text.clean import clean_text, get_last_line


@pytest.mark.parametrize(
    ("hostile", "seen"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[Hgone?", "gone?"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://203.0.113.9\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("\x1b]0;never closed\nnext line", "\nnext line"),
        ("a\x00b\x08c\x7fd\x85e", "abcde"),
        ("one\r\ntwo\rthree\u2028four", "one\ntwo\nthree\nfour"),
        ("tab\tstays", "tab\tstays"),
        ("admin\u202etxt.exe", "admintxt.exe"),
        ("ro\u200bot\ufeff\u2060", "root"),
        ("hidden\U000e0041\U000e0042", "hidden"),
        ("half \ud800 a pair", "half  a pair"),
        ("Zeichen über ASCII, 日本語", "Zeichen über ASCII, 日本語"),
    ],
)
def test_what_a_terminal_or_an_eye_would_obey_is_taken_out(hostile, seen):
    assert clean_text(hostile, 100) == seen


def test_a_cut_is_marked():
    assert clean_text("abcdef", 6) == "abcdef"
    assert clean_text("abcdefg", 6) == "abcde…"
    assert clean_text("\x1b[1m" * 10_000 + "end", 20).endswith("…")


@given(
    st.text(alphabet=st.characters(), max_size=200) | st.text("\x1b[]0;m\x07\x9b\\ab\n\u202e", max_size=60),
    st.integers(1, 80),
)
def test_nothing_unseen_is_left_and_it_ends_where_it_must(text, limit):
    seen = clean_text(text, limit)
    assert len(seen) <= limit
    assert not any(ord(letter) < 32 and letter not in "\n\t" for letter in seen)
    assert not any(letter in seen for letter in "\x1b\x7f\x9b\u200b\u202e\u2066\ufeff")
    seen.encode()
    assert clean_text(seen, limit) == seen


@pytest.mark.parametrize(
    ("text", "last"),
    [("error: no disk\n\x1b[0m", "error: no disk"), ("one\n two \n\n \u200b \n", "two"), ("\x1b[0m\n", ""), ("", "")],
)
def test_the_last_line_is_one_that_says_something(text, last):
    assert get_last_line(text, 200) == last
