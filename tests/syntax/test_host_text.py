from app.syntax import host_text
from tests.hostfiles import DictFiles


def test_bytes_that_are_not_utf8_survive_a_round_trip():
    assert host_text.encode_text(host_text.decode_bytes(b"a\xff\xc3\xa9\n")) == b"a\xff\xc3\xa9\n"


def test_a_line_ends_at_a_newline_and_nowhere_else():
    text = "a\x0bb\x0cc\x85d\u2028e\rf\ng"
    assert [line for _, line in host_text.number_lines(text)] == ["a\x0bb\x0cc\x85d\u2028e\rf", "g"]


def test_folding_leaves_the_kelvin_sign_alone():
    assert host_text.fold_case("ABCK\u212a") == "abck\u212a"


def test_only_ascii_digits_are_a_number():
    assert host_text.parse_natural_number("600") == 600
    assert [host_text.parse_natural_number(v) for v in ("", "-1", "+1", "1_0", " 1", "٦٠٠", "²", "1" * 4000)] == [
        None
    ] * 8
    assert [host_text.parse_digits(v) for v in ("600", "1" * 5000)] == [600, float("inf")]
    assert [host_text.parse_digits(v) for v in ("", "-1", "1.0", "٦٠٠", "²")] == [None] * 5


def test_only_ascii_blanks_part_words():
    assert host_text.split_words("a\u00a0b\tc d\r") == ["a\u00a0b", "c", "d"]


def test_glob_sorts_and_hides_as_the_c_library_does():
    files = DictFiles({"/etc/x/b.conf": "", "/etc/x/a.conf": "", "/etc/x/.hidden.conf": "", "/etc/x/sub/c.conf": ""})
    assert host_text.glob_paths_like_shell(files, "/etc/x/*.conf") == ["/etc/x/a.conf", "/etc/x/b.conf"]
    assert host_text.glob_paths_like_shell(files, "/etc/x/.*.conf") == ["/etc/x/.hidden.conf"]
