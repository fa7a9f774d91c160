from app.targets.host_facts import read_host_facts, read_log_lines
from tests.hostfiles import DictFiles
from tests.targets.hosts import host


def test_what_a_role_should_know():
    found = read_host_facts(host({"/etc/redhat-release": "Red Hat Enterprise Linux release 9.6 (Plow)\n"}))
    assert found["system"] == "Red Hat Enterprise Linux release 9.6 (Plow)"
    assert found["administrators"] == "opsadmin"
    assert found["backup"] == "the nightly backup logs in as root (/etc/mission/backup.conf)"
    assert found["uploads"] == "deploy puts files into /srv/inbox under umask 022 (/etc/login.defs line 1)"
    assert found["drop-ins"] == "/etc/sudoers.d/temper"
    assert found["sshd match blocks"] == "Match User deploy (/etc/ssh/sshd_config line 2)"


def test_without_a_mission_service_there_are_no_uploads():
    assert read_host_facts(host({"/etc/mission/mission.conf": None}))["uploads"] == "not configured"


def test_a_hostile_host_cannot_speak_past_its_line():
    found = read_host_facts(host({"/etc/redhat-release": "RHEL\x1b[2J\u202e " + "x" * 4000}))
    assert found["system"].startswith("RHEL xxx")
    assert len(found["system"]) <= 500


SECURE, MESSAGES, AUDIT = "/var/log/secure", "/var/log/messages", "/var/log/audit/audit.log"


def lines(count, name):
    return "".join(f"{name} {number}\n" for number in range(count))


def test_the_newest_of_each_log():
    files = DictFiles({SECURE: lines(9, "s"), MESSAGES: lines(9, "m"), AUDIT: lines(9, "a")})
    assert sorted(read_log_lines(files, 6)) == [
        "audit: a 7", "audit: a 8", "messages: m 7", "messages: m 8", "secure: s 7", "secure: s 8",
    ]  # fmt: skip


def test_a_quiet_log_leaves_its_share_and_an_absent_one_has_none():
    files = DictFiles({SECURE: lines(9, "s"), MESSAGES: lines(1, "m")})
    assert read_log_lines(files, 5) == ["messages: m 0", "secure: s 5", "secure: s 6", "secure: s 7", "secure: s 8"]
    assert read_log_lines(DictFiles({}), 5) == []
    assert read_log_lines(files, 0) == []


def test_what_a_log_says_is_cleaned_and_cut():
    files = DictFiles({SECURE: "Invalid user \x1b[31m\u202eroot\x07\n" + "x" * 2000 + "\n"})
    first, second = read_log_lines(files, 5)
    assert first == "secure: Invalid user root"
    assert len(second) <= 320
