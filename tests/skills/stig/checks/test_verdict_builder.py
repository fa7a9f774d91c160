from app.skills.stig.checks.verdict_builder import RuleJudge, escape_and_shorten_host_text, format_location
from app.syntax.setting import BadSetting, Setting


def test_host_text_is_short_and_shows_what_hides():
    assert escape_and_shorten_host_text("n\u043e\x1b[2J\u202e\udcff") == "n<U+043E><U+001B>[2J<U+202E><U+DCFF>"
    assert len(escape_and_shorten_host_text("a" * 5000)) < 200


def test_a_verdict_names_the_file_and_the_line():
    bench = RuleJudge("V-1", "/etc/main")
    at = Setting("k", "v", "/etc/drop\n", 7)
    assert format_location(at) == "/etc/drop<U+000A> line 7"
    passed = bench.passes_at(at, "says x")
    assert (passed.word, passed.line, passed.evidence) == ("pass", 7, "/etc/drop<U+000A> line 7 says x")
    assert (bench.fails("x").word, bench.fails("x").path, bench.fails("x").line) == ("fail", "/etc/main", None)
    assert bench.report_absent().word == "fail"
    assert bench.build_error_verdict_for_unreadable_setting(BadSetting("why", "/etc/a", 3)).word == "error"
