import pytest

from app.syntax import pam
from app.targets.effects.effective_pam_options import compare_options, read_rule_options
from app.targets.effects.strictness_comparison import Strength
from tests.hostfiles import DictFiles


def options(line, **files):
    (rule,) = pam.parse_service(f"{line}\n", "/etc/pam.d/x").rules
    given = {"/etc/login.defs": files.get("defs", ""), "/etc/security/faillock.conf": files.get("faillock", "")}
    return read_rule_options(rule, DictFiles({**given, "/etc/security/pwquality.conf": files.get("pwquality", "")}))


@pytest.mark.parametrize(
    ("line", "files", "option", "value"),
    [
        ("auth required pam_faillock.so", {"faillock": "deny=2"}, "deny", "2"),
        ("auth required pam_faillock.so deny=5", {"faillock": "deny=2"}, "deny", "5"),
        ("auth required pam_faillock.so deny=2 deny=5", {}, "deny", "5"),
        ("auth required pam_faillock.so deny=65538", {}, "deny", "2"),
        ("auth required pam_faillock.so unlock_time=never", {}, "unlock_time", "0"),
        ("auth required pam_faillock.so conf=/tmp/x", {"faillock": "deny=2"}, "deny", "3"),
        ("password required pam_pwquality.so", {}, "minlen", "8"),
        ("password required pam_pwquality.so minlen=12", {"pwquality": "minlen = 128"}, "minlen", "12"),
        ("password required pam_unix.so", {"defs": "ENCRYPT_METHOD SHA512\n"}, "hash", "sha512"),
        ("password required pam_unix.so", {}, "hash", "des"),
        ("password required pam_unix.so yescrypt sha512", {}, "hash", "sha512"),
        ("auth required pam_unix.so nullok_secure", {}, "nullok", "yes"),
        ("auth required pam_succeed_if.so uid >= 1000", {}, "other arguments", "uid >= 1000"),
        ("auth required pam_unix.so try_first_pass odd=1", {}, "other arguments", "odd=1"),
    ],
)
def test_what_a_rules_arguments_come_to(line, files, option, value):
    assert options(line, **files)[option] == value


@pytest.mark.parametrize(
    ("module", "option", "was", "now", "found"),
    [
        ("pam_faillock.so", "deny", "2", "5", Strength.WEAKER),
        ("pam_faillock.so", "local_users_only", "no", "yes", Strength.WEAKER),
        ("pam_pwquality.so", "minlen", "128", "12", Strength.WEAKER),
        ("pam_unix.so", "hash", "sha512", "yescrypt", Strength.STRONGER),
        ("pam_unix.so", "nullok", "yes", "no", Strength.STRONGER),
        ("pam_pwhistory.so", "remember", "24", "5", Strength.WEAKER),
        ("pam_unix.so", "use_authtok", "yes", "no", Strength.WEAKER),
        ("pam_access.so", "other arguments", "a", "b", Strength.INCOMPARABLE),
    ],
)
def test_two_values_compared(module, option, was, now, found):
    assert compare_options(module, option, was, now) is found
