from app.targets.host_facts import read_host_facts
from tests.targets.hosts import host


def test_what_a_role_should_know():
    found = read_host_facts(host({"/etc/redhat-release": "Red Hat Enterprise Linux release 9.6 (Plow)\n"}))
    assert found["system"] == "Red Hat Enterprise Linux release 9.6 (Plow)"
    assert found["administrators"] == "opsadmin"
    assert found["backup"] == "the nightly backup logs in as root (/etc/mission/backup.conf)"
    assert found["uploads"] == "deploy puts files into /srv/inbox under umask 022 (/etc/login.defs line 1)"
    assert found["drop-ins"] == "/etc/sudoers.d/temper"
    assert found["sshd match blocks"] == "Match User deploy (/etc/ssh/sshd_config line 2)"


def test_a_hostile_host_cannot_speak_past_its_line():
    found = read_host_facts(host({"/etc/redhat-release": "RHEL\x1b[2J\u202e " + "x" * 4000}))
    assert found["system"].startswith("RHEL xxx")
    assert len(found["system"]) <= 500
