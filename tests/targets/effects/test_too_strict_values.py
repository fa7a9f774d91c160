import re
import tomllib
from pathlib import Path

import pytest

from app.events.event_field_types import ParameterUsed
from app.skills.catalog import load_skill
from app.skills.skill import apply_parameters
from app.syntax.host_files_protocol import FileState
from app.targets.effects import too_strict_values
from app.targets.effects.too_strict_values import list_bounds, list_key_value_texts_asked_by_rule, load_bounds
from app.targets.effects.weakened_setting_search import DAEMONS
from tests.targets.effects.change import lost

PWQUALITY, LOGIN, LIMITS = "/etc/security/pwquality.conf", "/etc/login.defs", "/etc/security/limits.conf"
CONFIG, MODULE = "/etc/crypto-policies/config", "/etc/crypto-policies/policies/modules/SITE.pmod"
PASSWORDS = "/etc/pam.d/passwd"
SITES = [("minlen", "minlen", "most"), ("pass_max_days", "PASS_MAX_DAYS", "least"), ("maxlogins", "maxlogins", "least")]

PAST = [
    (PWQUALITY, "minlen = 15", "minlen = 99"),
    (PWQUALITY, "minlen = 15", "minlen = 33"),
    (PWQUALITY, "ocredit = -1", "ocredit = -9"),
    (PWQUALITY, "maxrepeat = 3", "maxrepeat = 1"),
    (PWQUALITY, "maxclassrepeat = 4", "maxclassrepeat = 1"),
    (PWQUALITY, "maxsequence = 4", "maxsequence = 1"),
    (LOGIN, "PASS_MAX_DAYS 60", "PASS_MAX_DAYS 1"),
    (LOGIN, "PASS_MAX_DAYS 60", "PASS_MAX_DAYS 6"),
    (LOGIN, "PASS_MIN_DAYS 1", "PASS_MIN_DAYS 30"),
    (LOGIN, "ENCRYPT_METHOD SHA512", "ENCRYPT_METHOD SHA512\nSHA_CRYPT_MIN_ROUNDS 999999"),
    (LOGIN, "SHA_CRYPT_MAX_ROUNDS 5000", "SHA_CRYPT_MAX_ROUNDS 999999999"),
    (LOGIN, "YESCRYPT_COST_FACTOR 5", "YESCRYPT_COST_FACTOR 11"),
    (LOGIN, "FAIL_DELAY 4", "FAIL_DELAY 60"),
    (LIMITS, "* hard maxlogins 10", "* hard maxlogins 1"),
    (LIMITS, "* - maxlogins 10", "* - maxlogins 2"),
    (LIMITS, "", "* hard maxsyslogins 1"),
    (
        PASSWORDS,
        "password required pam_unix.so sha512 rounds=65536",
        "password required pam_unix.so sha512 rounds=999999",
    ),
    ("/etc/ssh/sshd_config", "MaxAuthTries 6", "MaxAuthTries 1"),
    ("/etc/ssh/sshd_config", "LoginGraceTime 60", "LoginGraceTime 1"),
]


@pytest.mark.parametrize(("path", "was", "now"), PAST)
def test_a_value_past_its_bound_is_refused_with_the_reason(path, was, now):
    told = lost({path: f"{was}\n"}, {path: f"{now}\n"})
    assert re.search(r": .* has to be .*: \w+ ", told), told


@pytest.mark.parametrize(("path", "was", "now"), PAST)
def test_a_step_back_towards_the_bound_or_none_at_all_is_not_about_bounds(path, was, now):
    assert lost({path: f"{now}\n"}, {path: f"{now}\n# more\n"}) == ""
    assert "has to be" not in lost({path: f"{now}\n"}, {path: f"{was}\n"})


@pytest.mark.parametrize(
    ("path", "was", "now"),
    [
        (PWQUALITY, "minlen = 8", "minlen = 32"),
        (PWQUALITY, "dcredit = 0", "dcredit = -1"),
        (LOGIN, "PASS_MAX_DAYS 99999", "PASS_MAX_DAYS 7"),
        (LOGIN, "SHA_CRYPT_MIN_ROUNDS 5000", "SHA_CRYPT_MIN_ROUNDS 100000"),
        (LIMITS, "", "* hard maxlogins 10"),
        (LIMITS, "", "* hard maxlogins 3"),
    ],
)
def test_what_rules_really_ask_for_is_within(path, was, now):
    assert lost({path: f"{was}\n"}, {path: f"{now}\n"}) == ""


@pytest.mark.parametrize(
    ("path", "was", "now", "text"),
    [
        (PWQUALITY, "minlen = 15", "minlen = 64", "minlen has to be 64 or more. The site chose 64 where 15 is usual."),
        (LOGIN, "PASS_MAX_DAYS 60", "PASS_MAX_DAYS 1", "Set PASS_MAX_DAYS to 1 in /etc/login.defs."),
        (LOGIN, "PASS_MAX_DAYS 60", "PASS_MAX_DAYS 1", "var_max='1'\nsed -i s/^PASS_MAX_DAYS.*/x/ /etc/login.defs"),
        (LIMITS, "* hard maxlogins 10", "* hard maxlogins 1", "Add `* hard maxlogins 1`."),
    ],
)
def test_a_rules_own_text_may_ask_for_more(path, was, now, text):
    assert lost({path: f"{was}\n"}, {path: f"{now}\n"}, *list_key_value_texts_asked_by_rule(text)) == ""
    other = list_key_value_texts_asked_by_rule(text.replace("64", "20").replace("1", "30"))
    assert lost({path: f"{was}\n"}, {path: f"{now}\n"}, *other)


def test_every_value_that_a_site_may_choose_is_asked_for_by_its_rule():
    """The page offers these: the policy has to follow."""
    stig = load_skill("stig")
    for name, key, end in SITES:
        parameter = stig.parameters[name]
        value = str(int(getattr(parameter, end)))
        chosen = ParameterUsed(name=name, value=value, sha256="", rules=parameter.rules, where="every host")
        made = apply_parameters(stig, (chosen,)).rules[parameter.rules[0]]
        assert f"{key} {value}" in list_key_value_texts_asked_by_rule(f"{made.requirement}\n{made.fix}"), name


@pytest.mark.parametrize(
    "module",
    [
        "protocol = -TLS1.2 -TLS1.3\n",
        "protocol@TLS = -TLS1.2 -TLS1.3 -DTLS1.2\n",
        "protocol = -TLS1.2\nprotocol = -TLS1.3\n",
        "protocol = -TLS1.*\n",
        "protocol@OpenSSL = -TLS*\n",
        "cipher = -AES-* -CHACHA20-POLY1305\n",
        "cipher@SSH = -AES-256-GCM -AES-128-GCM -AES-256-CTR -AES-128-CTR -CHACHA20-POLY1305\n",
        "hash = -SHA2-256 -SHA2-384 -SHA2-512\n",
        "group = -X* -SECP* -FFDHE-*\n",
    ],
)
def test_a_crypto_policy_leaves_a_way_to_connect(module):
    assert "would be left" in lost({CONFIG: "DEFAULT\n"}, {MODULE: module})
    assert "would be left" in lost({CONFIG: "DEFAULT\n", MODULE: module}, {CONFIG: "DEFAULT:SITE\n"})


def test_two_modules_that_each_leave_one_leave_none_together():
    first, second = MODULE, MODULE.replace("SITE", "MORE")
    before = {CONFIG: "DEFAULT:SITE\n", first: "protocol = -TLS1.2\n", second: "protocol = -TLS1.3\n"}
    assert "would be left" in lost(before, {CONFIG: "DEFAULT:SITE:MORE\n"})


@pytest.mark.parametrize(
    "module", ["protocol = -TLS1.2\n", "cipher@SSH = -*-CBC\n", "hash = -SHA1\nmac = -HMAC-SHA1\n"]
)
def test_a_module_that_takes_weak_ones_away_may_stay(module):
    assert lost({CONFIG: "DEFAULT\n"}, {MODULE: module}) == ""


@pytest.mark.parametrize("path", ["/etc/shadow", "/etc/gshadow"])
def test_setgid_programs_of_the_family_can_still_read(path):
    def shadow(mode, owner):
        return {path: FileState(b"root:*:1:0:9:7:::\n", mode, owner)}

    debian = shadow(0o640, "root:shadow")
    for mode in (0o600, 0o400, 0o000):
        assert "by the group shadow" in lost(debian, shadow(mode, "root:shadow"))
        assert lost(debian, shadow(mode, "root:shadow"), f"mode {path} {mode:04o}") == ""
        assert lost(shadow(0o400, "root:root"), shadow(mode & 0o400, "root:root")) == ""
    assert lost(debian, shadow(0o440, "root:shadow")) == ""


def test_each_bound_has_a_reason_and_belongs_to_a_program_that_is_compared():
    data = tomllib.loads((Path(too_strict_values.__file__).with_name("bounds.toml")).read_text())
    assert {one["program"] for one in data["bounds"]} <= {daemon.name for daemon in DAEMONS}
    for one in load_bounds().bounds:
        assert len(one.why.split()) > 4
        assert (one.least is None) != (one.most is None)
    assert list_bounds("pwquality", "minlen")
    assert not list_bounds("pwquality", "minclass")
