from app.events.words import Reload
from app.targets.ssh.danger import services


def test_sshd_is_told_last_and_whenever_it_reads_what_changes():
    assert services(["/etc/issue"]) == ()
    assert services(["/etc/ssh/sshd_config.d/10.conf"]) == ("sshd",)
    assert services(["/etc/crypto-policies/config"], [Reload(service="auditd.service")]) == ("auditd", "sshd")
