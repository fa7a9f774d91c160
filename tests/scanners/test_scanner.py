import logging

from app.scanners.scanner import BuiltinScanner, Scanner, Verdict
from tests.hostfiles import DictFiles

FILES = DictFiles({})


def passes(files):
    return Verdict("V-1", "pass", "all well")


def breaks(files):
    raise RecursionError("pass\x1b[2J")


async def test_verdicts_come_in_the_order_asked_of_a_host_and_of_a_rehearsal():
    scanner: Scanner = BuiltinScanner({"V-1": passes, "V-2": lambda _: Verdict("V-2", "fail", "no")})
    for ask in (scanner.scan, scanner.scan_rehearsal_if_supported):
        assert [(v.rule, v.word) for v in await ask(FILES, ["V-2", "V-1"])] == [("V-2", "fail"), ("V-1", "pass")]


def test_a_check_that_breaks_is_an_error_and_stops_nobody(caplog):
    with caplog.at_level(logging.ERROR):
        broken, well = BuiltinScanner({"V-pass": breaks, "V-1": passes}).judge_rules(FILES, ["V-pass", "V-1"])
    assert (broken.rule, broken.word, well.word) == ("V-pass", "error", "pass")
    assert "RecursionError" in broken.evidence
    assert "\x1b" not in broken.evidence


def test_a_rule_without_a_check_is_unknown():
    assert [v.word for v in BuiltinScanner({}).judge_rules(FILES, ["accounts_password_pass"])] == ["unknown"]


def test_a_verdict_on_another_rule_is_not_taken():
    verdict = BuiltinScanner({"V-2": passes}).judge_rules(FILES, ["V-2"])[0]
    assert (verdict.rule, verdict.word) == ("V-2", "error")


def test_what_a_check_found_is_told_without_what_is_secret_in_it():
    found = "/etc/dnf/dnf.conf line 3 says 'proxy_password = CANARY'; gpgcheck is 0"
    (verdict,) = BuiltinScanner({"V-1": lambda _: Verdict("V-1", "fail", found)}).judge_rules(FILES, ["V-1"])
    assert verdict.evidence == "/etc/dnf/dnf.conf line 3 says 'proxy_password = [secret]'; gpgcheck is 0"
