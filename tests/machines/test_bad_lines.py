"""What one bad line costs on a machine with systemd, and that its own programs refuse a vendor's script for it."""

import pytest

from app.errors import ActionFailed
from app.resources.vendor_script import create_vendor_action
from app.targets.host_registry import open_target
from tests.hosts.conftest import Site
from tests.machines.conftest import ask_root

pytestmark = [pytest.mark.machines, pytest.mark.timeout(3600)]

CHRONY, DROP_IN = "/etc/chrony/chrony.conf", "/etc/systemd/system/cron.service.d/x.conf"
REFUSED = {
    f"echo garbage >>{CHRONY}\n": "chronyd refuses it: Invalid directive at line",
    "echo garbage >/etc/rsyslog.d/x.conf\n": "rsyslogd refuses it: error during parsing file /etc/rsyslog.d/x.conf",
    "echo 'garbage here' >/etc/logrotate.d/x\n": "logrotate refuses it: x:1 unknown option 'garbage'",
    f"mkdir -p {DROP_IN.rpartition('/')[0]}\necho garbage >{DROP_IN}\n": f"systemd-analyze refuses it: {DROP_IN}:1",
}
HONEST = (
    f"echo 'port 0' >>{CHRONY}\necho 'auth.* /var/log/mine.log' >/etc/rsyslog.d/x.conf\n"
    "printf '/var/log/mine.log {\\n  weekly\\n  missingok\\n}\\n' >/etc/logrotate.d/x\n"
    f"mkdir -p {DROP_IN.rpartition('/')[0]}\nprintf '[Service]\\nNoNewPrivileges=no\\n' >{DROP_IN}\n"
)


@pytest.fixture(scope="module")
def opened(machine, tmp_path_factory):
    machine.reset()
    site = Site(tmp_path_factory.mktemp("site") / "data", machine)
    site.add()
    target = open_target("deb", site.data / "hosts")
    target.prepare()
    yield target
    target.close()


def run_script(opened, name, script):
    return opened.apply(name, [create_vendor_action("trial", script)], frozenset({"vendor:trial"}))


@pytest.mark.parametrize("script", REFUSED)
def test_garbage_by_a_vendors_script_is_refused_by_the_program_that_would_read_it(opened, machine, script):
    with pytest.raises(ActionFailed) as refused:
        run_script(opened, "garbage", script)
    assert REFUSED[script] in str(refused.value)
    assert ask_root(machine, f"grep -c garbage {CHRONY}; ls /etc/rsyslog.d/x.conf {DROP_IN} 2>/dev/null; true") == "0"


def test_what_the_programs_accept_is_done_and_undone(opened, machine):
    run_script(opened, "honest", HONEST)
    assert (
        ask_root(machine, f"grep -cx 'port 0' {CHRONY}; chronyd -p >/dev/null; rsyslogd -N1 2>/dev/null; echo $?")
        == "1\n0"
    )
    assert opened.roll_back("honest").differences == ()


def test_chronyd_does_not_start_with_a_bad_line(machine):
    machine.reset()
    ask_root(machine, f"echo garbage >>{CHRONY}")
    assert ask_root(machine, "systemctl restart chrony 2>/dev/null; systemctl is-active chrony || true") == "failed"


@pytest.mark.parametrize(("bad", "loads"), [("garbage", "loaded"), ("NoSuch=1", "loaded"), ("[Service", "error")])
def test_systemd_skips_a_bad_line_and_refuses_a_unit_with_a_bad_header(machine, bad, loads):
    unit = f"[Service]\\nExecStart=/bin/true\\n{bad}\\nUser=nobody\\n"
    shown = "systemctl show -P LoadState trial.service; systemctl show -P User trial.service"
    told = ask_root(machine, f"printf '{unit}' >/etc/systemd/system/trial.service; systemctl daemon-reload; {shown}")
    assert told.split() == [loads, *(["nobody"] if loads == "loaded" else [])]
