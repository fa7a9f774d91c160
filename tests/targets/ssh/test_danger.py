from app.events.event_field_types import Reload
from app.targets.ssh.service_activator import list_services_to_reload


def test_sshd_is_told_last_and_whenever_it_reads_what_changes():
    assert list_services_to_reload(["/etc/issue"]) == ()
    assert list_services_to_reload(["/etc/ssh/sshd_config.d/10.conf"]) == ("sshd",)
    assert list_services_to_reload(["/etc/crypto-policies/config"], [Reload(service="auditd.service")]) == (
        "auditd",
        "sshd",
    )
