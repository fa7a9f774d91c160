from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from app.syntax.shell_tokenizer import iterate_quoted_and_heredoc_texts, iterate_words_and_operators


def words(text):
    return [token.text for token in iterate_words_and_operators(text)]


def test_words_operators_quotes_and_expansions():
    text = "a='b c' d=\"e;f\" && g=$(h; i) || j=${k:-l m};n\\ o # p\nq"
    assert words(text) == ["a='b c'", 'd="e;f"', "&&", "g=$(h; i)", "||", "j=${k:-l m}", ";", "n\\ o", "\n", "q"]


def test_redirections_and_here_documents_are_left_out():
    assert words("cat <<'EOF' >/tmp/x 2>&1\nTMOUT=1\nEOF\nb=2\n") == ["cat", "\n", "b=2", "\n"]
    assert words("cat <<-E\n\tTMOUT=1\n\tE\nb\n") == ["cat", "\n", "b", "\n"]


def test_a_shift_in_arithmetic_is_no_here_document():
    for shift in ("((x<<2))", "(( y = (1 << n) + 2 ))", "((a[1<<2]<<=b))", "((x<<2)) && c"):
        assert words(f"{shift}\nTMOUT=600\n2\n")[-4:] == ["TMOUT=600", "\n", "2", "\n"]
    assert words("for ((i=1; i<1<<4; i++)); do\nb\ndone\n")[-4:] == ["b", "\n", "done", "\n"]
    assert words("( (cat <<E\nTMOUT=1\nE\n) | d)\n") == ["(", "(", "cat", "\n", ")", "|", "d", ")", "\n"]
    assert words("((x<<2)); cat <<E\nTMOUT=1\nE\nb")[-3:] == ["cat", "\n", "b"]


def test_the_data_of_a_script_is_what_it_quotes_without_commands_flags_and_comments():
    script = (
        '# -e 2, deny\nif [ -f "/etc/a b" ]; then chmod -f 2 x; fi\nline="deny = $value" # -b 1\n'
        "cat <<'EOF' >/etc/x\n-w /etc/passwd\nEOF\nsed -i 's/^retry.*/'\"$y\"'z/' \"$(cut -f 2 'q')\"`id 'r'`\n"
    )
    found = list(iterate_quoted_and_heredoc_texts(script))
    assert [text.strip() for text in found if text.strip()] == [
        "/etc/a b",
        "deny = $value",
        "-w /etc/passwd\nEOF",
        "s/^retry.*/",
        "$y",
        "z/",
    ]


def test_a_continued_line_is_one_line():
    assert words("a \\\nb\n") == ["a", "b", "\n"]


@settings(deadline=None)  # the machine may be busy
@given(st.text(alphabet="aT=6 \t\n\\'\"`$(){}<>&|;#-\r\u00a0", max_size=60))
def test_any_text_comes_to_an_end_in_order(text):
    found = list(iterate_words_and_operators(text))
    assert all(before.end <= after.start for before, after in pairwise(found))
    assert all(token.start < token.end for token in found)


def test_nesting_without_measure_is_survived():
    nested = "$(" * 20_000 + "`" * 101 + '"$(' * 5000
    assert list(iterate_words_and_operators(nested)) != []
    assert (
        "".join(iterate_quoted_and_heredoc_texts(nested)).strip()
        == "".join(iterate_quoted_and_heredoc_texts('"' + nested)).strip()
        == ""
    )
