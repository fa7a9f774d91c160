"""The stand-in for RHEL 9: it boots, says what it is, lets people in, and its packages are dnf's."""

import os
from contextlib import suppress

import pytest

from app.errors import ActionFailed
from app.resources.package import InstallPackage, RemovePackage
from app.resources.unit import SetUnit
from app.targets.host_registry import open_target
from app.targets.vm.virtual_machine import VirtualMachine
from tests.hosts.conftest import KEPT, Site
from tests.machines.conftest import ask_root, may_root_log_in

pytestmark = [pytest.mark.machines, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def machine():
    one = VirtualMachine(KEPT / "machines", f"test-el9-{os.getpid()}")
    try:
        one.build("el9")
        one.start()
        yield one
    finally:
        one.discard()


def test_it_boots_with_selinux_and_says_that_it_is_a_stand_in(machine):
    assert machine.read_record().state == "running", machine.read_console(2000)
    assert "SIMULATED" in ask_root(machine, "cat /etc/redhat-release; cat /etc/issue")
    assert "stand-in" in ask_root(machine, ". /etc/os-release; echo $PRETTY_NAME")
    assert ask_root(machine, "rpm -q --qf '%{VERSION}' redhat-release 2>/dev/null") == "9.6"
    assert ask_root(machine, "getenforce") == "Enforcing"
    labels = ask_root(machine, "stat -c %C /etc/shadow /usr/sbin/sshd /var/log/audit").splitlines()
    assert [one.split(":")[2] for one in labels] == ["shadow_t", "sshd_exec_t", "auditd_log_t"]
    assert ask_root(machine, "! command -v apt-get && ! command -v dpkg") == ""


def test_people_log_in_through_its_stacks(machine):
    assert may_root_log_in(machine)
    assert ask_root(machine, "id -un") == "root"  # temper over SSH, and sudo through system-auth
    # The right password is let in through system-auth, and a wrong one is not.
    script = """echo opsadmin:Trial-4-the-stack | chpasswd
    su -s /bin/sh temper -c 'echo Trial-4-the-stack | su -s /bin/sh opsadmin -c "id -un"' 2>/dev/null
    su -s /bin/sh temper -c 'echo wrong | su -s /bin/sh opsadmin -c "id -un"' 2>/dev/null || echo refused"""
    assert ask_root(machine, script).split() == ["opsadmin", "refused"]


def test_logins_and_jobs_of_cron_are_denied_nothing(machine):
    """Denials that come by themselves would count as harm of whatever change is being tried then."""
    ask_root(machine, "echo '* * * * * root id -Z >/tmp/job' >/etc/cron.d/trial")
    context = ask_root(machine, "until [ -s /tmp/job ]; do sleep 1; done; cat /tmp/job; rm /etc/cron.d/trial")
    assert context == "system_u:system_r:system_cronjob_t:s0"
    assert ask_root(machine, "grep -h denied /var/log/audit/audit.log || echo none") == "none"


def test_its_crypto_policy_is_what_sshd_goes_by(machine):
    assert "chacha20-poly1305" in ask_root(machine, "sshd -T | grep ^ciphers")
    ask_root(machine, "update-crypto-policies --set FIPS && update-crypto-policies --check")
    assert "chacha20" not in ask_root(machine, "sshd -T | grep ^ciphers")
    ask_root(machine, "update-crypto-policies --set DEFAULT")


def test_a_package_with_a_real_daemon_comes_and_goes_and_is_put_back(machine, tmp_path):
    site = Site(tmp_path / "data", machine)
    site.add()
    target = open_target("deb", site.data / "hosts")
    try:
        target.prepare()
        action, place = InstallPackage(package="usbguard"), frozenset({"package:usbguard"})
        target.apply("one", [action], place)
        assert (
            ask_root(machine, "rpm -V usbguard 2>/dev/null; test -x /usr/sbin/usbguard-daemon && echo there") == "there"
        )
        assert target.roll_back("one").differences == ()
        assert ask_root(machine, "test -e /usr/sbin/usbguard-daemon || echo gone") == "gone"
        target.apply("two", [RemovePackage(package="telnet-server")], frozenset({"package:telnet-server"}))
        ask_root(machine, "mv /srv/rpms /srv/away; rm -rf /var/cache/dnf/*")
        assert target.roll_back("two").differences == ()
        assert ask_root(machine, "mv /srv/away /srv/rpms; rpm -q telnet-server 2>/dev/null").startswith("telnet-server")
    finally:
        target.close()


FRAGILE = """cat >/etc/systemd/system/fragile.service <<END
[Service]
Type=simple
ExecStart=/bin/sh -c "sleep 1; exit 1"
Restart=on-failure
RestartSec=100ms
[Install]
WantedBy=multi-user.target
END
systemctl daemon-reload"""


def test_a_service_that_dies_after_its_start_is_put_back_without_a_trace(machine, tmp_path):
    ask_root(machine, FRAGILE)
    site = Site(tmp_path / "data", machine)
    site.add()
    target = open_target("deb", site.data / "hosts")
    state = (
        "systemctl show --property ActiveState,UnitFileState --value fragile; systemctl --failed --plain --no-legend"
    )
    try:
        target.prepare()
        with suppress(ActionFailed):
            target.apply("one", [SetUnit(unit="fragile.service", to="enable-now")], frozenset({"unit:fragile.service"}))
        ask_root(machine, "until systemctl is-failed fragile; do sleep 1; done")
        assert target.roll_back("one").differences == ()
        assert ask_root(machine, state).split() == ["inactive", "disabled"]
    finally:
        target.close()
        ask_root(machine, "rm /etc/systemd/system/fragile.service; systemctl daemon-reload")


MODULAR = """cd /srv/rpms && cat >/root/modules.yaml <<END
---
document: modulemd
version: 2
data:
  name: side
  stream: "1"
  version: 1
  context: c0ffee01
  arch: x86_64
  summary: Of a stand-in
  description: Of a stand-in
  license:
    module: [none]
  artifacts:
    rpms: [$(rpm -qp --qf '%{NAME}-%{EPOCHNUM}:%{VERSION}-%{RELEASE}.%{ARCH}' tmux-*.rpm 2>/dev/null)]
---
document: modulemd-defaults
version: 1
data:
  module: side
  stream: "1"
  profiles: {}
END
modifyrepo_c --mdtype=modules /root/modules.yaml repodata >/dev/null && dnf -q clean all
"""
"""tmux comes in a default stream, which nobody has enabled."""


def test_no_module_stream_is_enabled_by_the_way(machine, tmp_path):
    ask_root(machine, MODULAR)
    site = Site(tmp_path / "data", machine)
    site.add()
    target = open_target("deb", site.data / "hosts")
    action, place = InstallPackage(package="tmux"), frozenset({"package:tmux"})
    try:
        target.prepare()
        with pytest.raises(
            ActionFailed, match="the module stream side:1 would be enabled, which is a person's to decide"
        ):
            target.apply("one", [action], place)
        ask_root(machine, "dnf -q -y module enable side:1")
        target.apply("two", [action], place)
        assert ask_root(machine, "tmux -V").startswith("tmux ")
        assert target.roll_back("two").differences == ()
    finally:
        target.close()
        ask_root(machine, "dnf -q -y module reset side; createrepo_c --quiet /srv/rpms; dnf -q clean all")
