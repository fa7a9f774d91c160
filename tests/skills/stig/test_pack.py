import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.scanners.scanner import BuiltinScanner
from app.skills.stig.pack import STIG
from app.syntax.host_files_protocol import FileState
from app.syntax.option_writing_by_file_path import set_option
from tests.hostfiles import DictFiles

FIXTURE = Path(__file__).parents[3] / "app/targets/fixture"
CATEGORIES = {"I": {"V-257984", "V-257986", "V-257989", "V-257991", "V-258094", "V-257820"}, "III": {"V-258069"}}
IRREVERSIBLE = {"V-258229", "V-258055", "V-258057"}


def fixture():
    manifest = tomllib.loads((FIXTURE / "manifest.toml").read_text())
    tree = FIXTURE / "tree"
    return {
        path: FileState(
            file.read_bytes(), int(manifest["modes"].get(path, "0644"), 8), manifest["owners"].get(path, "root:root")
        )
        for file in tree.rglob("*")
        if file.is_file() and (path := f"/{file.relative_to(tree)}")
    }


def test_there_are_thirty_rules_with_ids_of_their_own():
    assert len(STIG.rules) == 30
    assert len({rule.stig_id for rule in STIG.rules.values()}) == 30
    for key, rule in STIG.rules.items():
        assert key == rule.id
        assert re.fullmatch(r"V-25[78]\d{3}", rule.id)
        assert re.fullmatch(r"RHEL-09-\d{6}", rule.stig_id)


def test_every_check_answers_for_its_own_rule():
    empty = DictFiles({})
    assert [rule.check(empty).rule for rule in STIG.rules.values()] == list(STIG.rules)


def test_categories_are_those_of_the_stig():
    for rule in STIG.rules.values():
        expected = next((category for category, ids in CATEGORIES.items() if rule.id in ids), "II")
        assert rule.category == expected, rule.id


def test_what_cannot_be_undone_is_marked_and_comes_after_what_it_needs():
    assert {rule.id for rule in STIG.rules.values() if rule.irreversible} == IRREVERSIBLE
    depends = {rule.id: set(rule.depends) for rule in STIG.rules.values() if rule.depends}
    assert depends == {"V-258229": {"V-258227", "V-258154"}, "V-258055": {"V-258054"}, "V-258057": {"V-258054"}}


@pytest.mark.parametrize("rule", STIG.rules.values(), ids=lambda rule: rule.id)
def test_sentences_are_sentences_and_paths_are_paths(rule):
    for text in (rule.requirement, rule.fix, rule.breaks or "None known."):
        assert text.endswith(".")
        assert text.isascii()
    assert rule.title
    assert all(path.startswith("/etc/") for path in rule.paths)


@pytest.mark.parametrize("rule", STIG.rules)
def test_the_demo_host_fails_with_evidence_that_names_a_file(rule):
    verdict = STIG.rules[rule].check(DictFiles(fixture()))
    assert verdict.word == "fail", verdict.evidence
    assert verdict.path is not None
    assert len(verdict.evidence) < 400
    if verdict.line is not None:
        assert f"{verdict.path} line {verdict.line}" in verdict.evidence


SSHD = "/etc/ssh/sshd_config"
BACKEND = "/etc/crypto-policies/back-ends/opensshserver.config"
REDHAT = "/etc/ssh/sshd_config.d/50-redhat.conf"
FIXES = [
    ("V-257984", SSHD, "PermitEmptyPasswords", "no"),
    ("V-257986", "/etc/ssh/sshd_config.d/40-migration.conf", "UsePAM", "yes"),
    ("V-257985", SSHD, "PermitRootLogin", "no"),
    ("V-257983", SSHD, "PubkeyAuthentication", "yes"),
    ("V-257981", SSHD, "Banner", "/etc/issue"),
    ("V-257992", SSHD, "HostbasedAuthentication", "no"),
    ("V-257993", SSHD, "PermitUserEnvironment", "no"),
    ("V-257995", SSHD, "ClientAliveCountMax", "1"),
    ("V-257996", SSHD, "ClientAliveInterval", "600"),
    ("V-258003", REDHAT, "GSSAPIAuthentication", "no"),
    ("V-258007", REDHAT, "X11Forwarding", "no"),
    ("V-257989", BACKEND, "Ciphers", "aes256-gcm@openssh.com,aes256-ctr,aes128-gcm@openssh.com,aes128-ctr"),
    (
        "V-257991",
        BACKEND,
        "MACs",
        "hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha2-256,hmac-sha2-512",
    ),
    ("V-258054", "/etc/security/faillock.conf", "deny", "3"),
    ("V-258055", "/etc/security/faillock.conf", "even_deny_root", ""),
    ("V-258057", "/etc/security/faillock.conf", "unlock_time", "0"),
    ("V-258041", "/etc/login.defs", "PASS_MAX_DAYS", "60"),
    ("V-258074", "/etc/login.defs", "UMASK", "077"),
    ("V-258068", "/etc/profile.d/tmout.sh", "TMOUT", "600"),
    ("V-258069", "/etc/security/limits.conf", "hard maxlogins", "10"),
    ("V-258154", "/etc/audit/auditd.conf", "disk_full_action", "HALT"),
    ("V-258229", "/etc/audit/audit.rules", "-e", "2"),
    ("V-257820", "/etc/dnf/dnf.conf", "gpgcheck", "1"),
]
PAIRS = [
    ("V-258107", ("/etc/security/pwquality.conf", "/etc/security/pwquality.conf.d/50-site.conf"), "minlen", "15"),
    ("V-258227", ("/etc/audit/audit.rules", "/etc/audit/rules.d/audit.rules"), "-f", "2"),
]


def edited(states, path, key, value):
    before = states.get(path, FileState(b"", 0o644, "root:root"))
    text = set_option(path, before.content.decode(), key, value)
    return states | {path: FileState(text.encode(), before.mode, before.owner)}


@pytest.mark.parametrize(("rule", "path", "key", "value"), FIXES, ids=[fix[0] for fix in FIXES])
def test_one_option_mends_the_demo_host(rule, path, key, value):
    verdict = STIG.rules[rule].check(DictFiles(edited(fixture(), path, key, value)))
    assert verdict.word == "pass", verdict.evidence


@pytest.mark.parametrize(("rule", "paths", "key", "value"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_two_files_have_to_agree(rule, paths, key, value):
    states = fixture()
    for path in paths:
        assert STIG.rules[rule].check(DictFiles(states)).word == "fail"
        states = edited(states, path, key, value)
    assert STIG.rules[rule].check(DictFiles(states)).word == "pass"


def test_a_line_behind_the_match_block_mends_nothing():
    states = fixture()
    content = states[SSHD].content + b"ClientAliveInterval 600\n"
    verdict = STIG.rules["V-257996"].check(DictFiles(states | {SSHD: FileState(content, 0o600, "root:root")}))
    assert verdict.word == "fail"
    assert "inside the block Match User kiosk alone" in verdict.evidence


DECIDING = sorted({path for rule in STIG.rules.values() for path in rule.paths if "*" not in path})
PRINTABLE = re.compile(r"[ -~…]+")
HOSTILE = "\x1b[2J\u202e\u2028\udcff"
TEXTS = st.text(alphabet=" \t\n\r\\\"'#=[](){}:,!$`*-@%/ePpassmi0123\u00a0\u0430", max_size=60)


@settings(deadline=None)  # the machine may be busy
@given(texts=st.dictionaries(st.sampled_from(DECIDING), TEXTS | st.binary(max_size=40), max_size=6))
def test_no_text_breaks_a_check_or_passes_as_nothing(texts):
    for rule in STIG.rules.values():
        verdict = rule.check(DictFiles(texts))
        assert verdict.word in {"pass", "fail", "error"}
        assert PRINTABLE.fullmatch(verdict.evidence), rule.id


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        ("V-257985", SSHD, "PermitRootLogin no\nMatch User {}\nPermitRootLogin yes\n"),
        ("V-257985", SSHD, "Match User {}\nPermitRootLogin no\n"),
        ("V-257985", SSHD, "PermitRootLogin {}\n"),
        ("V-257981", SSHD, "Banner {}\n"),
        ("V-257989", BACKEND, "Ciphers {}\n"),
        ("V-258094", "/etc/pam.d/system-auth", "auth required {}.so nullok\n"),
        ("V-258054", "/etc/security/faillock.conf", "deny = {}\n"),
        ("V-258107", "/etc/security/pwquality.conf", "minlen = {}\n"),
        ("V-258074", "/etc/login.defs", "UMASK {}\n"),
        ("V-258068", "/etc/profile.d/tmout.sh", "TMOUT={}\n"),
        ("V-258069", "/etc/security/limits.conf", "{} hard maxlogins 99\n"),
        ("V-258069", "/etc/security/limits.conf", "* hard maxlogins {}\n"),
        ("V-258106", "/etc/sudoers", "{} ALL=(ALL) NOPASSWD: ALL\n"),
        ("V-258106", "/etc/sudoers", "bob ALL=(ALL) NOPASSWD: /bin/{}\n"),
        ("V-258106", "/etc/sudoers", "@include /{}\n"),
        ("V-258086", "/etc/sudoers", "Defaults:{} !authenticate\n"),
        ("V-258154", "/etc/audit/auditd.conf", "disk_full_action = {}\n"),
        ("V-258227", "/etc/audit/audit.rules", "-f {}\n"),
        ("V-257820", "/etc/dnf/dnf.conf", "[main]\ngpgcheck={}\n"),
        ("V-257807", "/etc/modprobe.d/sctp.conf", "install sctp {}\n"),
    ],
)
def test_hostile_text_is_shown_harmless_and_short(rule, path, text):
    verdict = STIG.rules[rule].check(DictFiles({path: text.format(HOSTILE + "a" * 3000)}))
    assert verdict.word in {"fail", "error"}
    assert PRINTABLE.fullmatch(verdict.evidence), verdict.evidence
    assert len(verdict.evidence) < 900


def test_the_scanner_says_what_the_checks_say():
    files = DictFiles(fixture())
    scanned = BuiltinScanner({rule.id: rule.check for rule in STIG.rules.values()}).judge_rules(files, list(STIG.rules))
    assert scanned == [rule.check(files) for rule in STIG.rules.values()]
