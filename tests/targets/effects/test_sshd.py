"""What a change to sshd's files does is judged by what sshd would then go by."""

import pytest

from app.events.event_field_types import AppendLine, RemoveLine, ReplaceLine, SetOption, WriteFile
from app.targets import policy
from app.targets.effects.local_programs_on_copied_host_files import create_local_asker
from app.targets.effects.sshd import Sshd, parse_sshd_output
from app.targets.effects.strictness_comparison import Strength
from app.targets.effects.weakened_setting_search import find_weakening_objection_by_programs
from app.targets.overlay import Overlay
from app.targets.planned_file_states import compute_changed_file_states
from app.targets.program_sandbox import detect_confinement
from tests.targets.hosts import host
from tests.targets.test_debian import Plain

MAIN = "/etc/ssh/sshd_config"
DROP = "/etc/ssh/sshd_config.d"
DEBIAN = {"/etc/os-release": "ID=debian\n"}
KEPT_APART = {"hostkey", "ipqos", "listenaddress"}
"""sshd is given a key of ours; and of the other two it says what no file does."""


def files(main, **drops):
    more = {f"{DROP}/{name}.conf": text for name, text in drops.items()}
    return Plain(host({MAIN: main, **more, **DEBIAN}))


def refused(before, *actions, asks=frozenset()):
    refusals = policy.list_action_refusals(actions, frozenset(action.path for action in actions), before, asks)
    return [one.clause for one in refusals]


def appended(line):
    return AppendLine(path=MAIN, line=line)


CASES = {
    "a good word in capitals may not be removed": (
        "PasswordAuthentication No\n",
        RemoveLine(path=MAIN, line="PasswordAuthentication No"),
    ),
    "nor one in quotes": (
        '"passwordauthentication" "NO"\n',
        RemoveLine(path=MAIN, line='"passwordauthentication" "NO"'),
    ),
    "a weaker word at the end of a Match block": (
        "PermitRootLogin no\nMatch Address 192.168.0.0/16\n\tX11Forwarding no\n",
        appended("PermitRootLogin prohibit-password"),
    ),
    "more tries at the end of a Match block": (
        "MaxAuthTries 3\nMatch Address 192.168.0.0/16\n\tX11Forwarding no\n",
        appended("MaxAuthTries 10"),
    ),
    "more tries for all, behind Match all": (
        "MaxAuthTries 3\nMatch all\n\tX11Forwarding no\n",
        appended("MaxAuthTries 10"),
    ),
    "a list of what is taken away brings back what the list had left out": (
        "MACs hmac-sha2-512-etm@openssh.com,hmac-sha2-512\n",
        SetOption(path=MAIN, key="MACs", value="-hmac-md5"),
    ),
    "a list with one put first, too": (
        "Ciphers aes256-gcm@openssh.com\n",
        SetOption(path=MAIN, key="Ciphers", value="^aes256-ctr"),
    ),
    "a pattern in what is taken away": (
        "KexAlgorithms diffie-hellman-group18-sha512\n",
        SetOption(path=MAIN, key="KexAlgorithms", value="-*sha1"),
    ),
    "keys that are kept longer": ("RekeyLimit 1G 1h\n", SetOption(path=MAIN, key="RekeyLimit", value="4G none")),
    "more tries": ("MaxAuthTries 2\n", SetOption(path=MAIN, key="MaxAuthTries", value="10")),
    "smaller keys": ("RequiredRSASize 4096\n", SetOption(path=MAIN, key="RequiredRSASize", value="2048")),
    "more time than by default": ("", appended("LoginGraceTime 999")),
    "a block that another file opens": (
        f"Match User deploy\nInclude {DROP}/deploy.conf\n",
        ReplaceLine(path=f"{DROP}/deploy.conf", old="MaxAuthTries 2", new="MaxAuthTries 10"),
    ),
    "a drop-in ahead of all others": (
        f"Include {DROP}/*.conf\nMaxSessions 3\n",
        WriteFile(path=f"{DROP}/00-a.conf", content="MaxSessions 10\n", mode="0600"),
    ),
    "a criterion that only a later sshd knows": (
        "MaxAuthTries 3\nMatch invalid-user yes\n\tX11Forwarding no\n",
        appended("MaxAuthTries 10"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_weaker_in_effect_is_refused(name):
    main, action = CASES[name]
    assert refused(files(main, deploy="MaxAuthTries 2\n"), action) == ["weakening"]


@pytest.mark.parametrize(
    ("main", "action"),
    [
        ("MaxAuthTries 10\n", SetOption(path=MAIN, key="MaxAuthTries", value="3")),
        ("", appended("LoginGraceTime 60")),
        ("MaxAuthTries 3\nMaxAuthTries 10\n", RemoveLine(path=MAIN, line="MaxAuthTries 10")),
        ("PermitRootLogin yes\nMatch User bob\n\tPermitTTY no\n", appended("PermitRootLogin prohibit-password")),
        ("Ciphers aes128-ctr\n", SetOption(path=MAIN, key="Ciphers", value="aes256-ctr")),
        ("MACs hmac-sha1,hmac-sha2-256\n", SetOption(path=MAIN, key="MACs", value="hmac-sha2-512,hmac-sha2-256")),
        ("RekeyLimit default none\n", SetOption(path=MAIN, key="RekeyLimit", value="1G 1h")),
    ],
)
def test_what_is_stricter_or_comes_to_the_same_is_accepted(main, action):
    assert refused(files(main), action) == []


def test_what_a_rule_asks_for_is_accepted_and_nothing_beside_it():
    before = files("PubkeyAuthentication no\nMaxAuthTries 3\n")
    asked = SetOption(path=MAIN, key="PubkeyAuthentication", value="yes")
    more = SetOption(path=MAIN, key="MaxAuthTries", value="10")
    asks = frozenset({"sshd pubkeyauthentication yes"})
    assert refused(before, asked) == ["weakening"]
    assert refused(before, asked, asks=asks) == []
    assert refused(before, asked, more, asks=asks) == ["weakening"]


def test_what_holds_for_some_because_it_holds_for_all_is_asked_for_once():
    before = files("PubkeyAuthentication no\nMatch User bob\n\tPermitTTY no\n")
    action = SetOption(path=MAIN, key="PubkeyAuthentication", value="yes")
    assert refused(before, action, asks=frozenset({"sshd pubkeyauthentication yes"})) == []


def test_a_connection_that_fits_two_blocks_is_judged_by_both():
    main = "MaxAuthTries 6\nMatch Address 10.0.0.0/8\n\tPermitTTY no\nMatch User bob\n\tMaxAuthTries 3\n"
    action = ReplaceLine(path=MAIN, old="\tPermitTTY no", new="\tMaxAuthTries 5")
    before = files(main)
    both = Sshd(before).read_settings(before)
    assert both["maxauthtries for address 10.0.0.0/8 and user bob"] == "3"
    assert policy.list_action_refusals([action], frozenset({MAIN}), before)


MATCHED = f"""Include {DROP}/*.conf
PermitRootLogin No
Match Group wheel LocalPort 22
	MaxAuthTries 3
Match Address 192.168.0.0/16,!192.168.9.0/24 User *,!root
	Banner /etc/issue
Match Host *.corp.example
	AllowTcpForwarding local
Match all
	ClientAliveInterval 1m30s
"""


def test_our_reading_is_what_sshd_says():
    before = files(MATCHED, a="Ciphers -*cbc,aes128*\nMatch User nobody-yet Group nobodies\n\tMaxSessions 1\n")
    daemon = Sshd(before)
    ours, theirs = daemon.read_settings(before), daemon.ask_settings(before, create_local_asker(detect_confinement()))
    assert theirs
    told = {key for key in ours.keys() | theirs.keys() if key.partition(" for ")[0] not in KEPT_APART}
    assert {key: ours.get(key) for key in told} == {key: theirs.get(key) for key in told}
    assert ours["maxsessions for user nobody-yet group nobodies"] == "1"
    assert ours["maxauthtries for group wheel localport 22"] == "3"


def test_sshd_is_asked_before_a_byte_is_written():
    before = files(MATCHED)
    action = ReplaceLine(path=MAIN, old="\tMaxAuthTries 3", new="\tMaxAuthTries 10")
    after = Overlay(before, compute_changed_file_states([action], before))
    found = find_weakening_objection_by_programs(
        [MAIN], before, after, frozenset(), create_local_asker(detect_confinement())
    )
    assert found
    assert "maxauthtries for group wheel localport 22 is 3 and would be 10, which is weaker" in found.reason


def test_a_host_whose_files_sshd_here_does_not_take_is_left_to_our_reading():
    before = files("GSSAPIEnablek5users no\nNonsense yes\n")
    assert Sshd(before).ask_settings(before, create_local_asker(detect_confinement())) is None


def test_what_sshd_prints_beside_its_settings_is_no_setting():
    output = "/etc/ssh/sshd_config line 1: Deprecated option protocol\nport 22\nport 2222\nbanner none\n"
    assert parse_sshd_output(output) == {"port": "22 2222", "banner": "none"}


def test_what_nobody_has_ranked_is_not_comparable():
    assert Sshd().compare_values("frobnicate for user bob", "1", "2") is Strength.INCOMPARABLE
