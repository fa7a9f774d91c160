from app.skills.stig.checks.verdicts import Bench, place, shown
from app.syntax.setting import Setting


def test_host_text_is_short_and_shows_what_hides():
    assert shown("n\u043e\x1b[2J\u202e\udcff") == "n<U+043E><U+001B>[2J<U+202E><U+DCFF>"
    assert len(shown("a" * 5000)) < 200


def test_a_verdict_names_the_file_and_the_line():
    bench = Bench("V-1", "/etc/main")
    at = Setting("k", "v", "/etc/drop\n", 7)
    assert place(at) == "/etc/drop<U+000A> line 7"
    assert (bench.passes("x", at).word, bench.passes("x", at).line) == ("pass", 7)
    assert (bench.fails("x").word, bench.fails("x").path, bench.fails("x").line) == ("fail", "/etc/main", None)
    assert bench.absent().word == "fail"
    assert bench.unreadable("/etc/a", 3, "why").word == "error"
