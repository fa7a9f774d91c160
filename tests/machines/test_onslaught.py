"""A hostile engine against a machine that boots, in mode auto: its kernel and its systemd say that nothing was lost."""

import pytest

from tests.hostile_answers import read_honest_answers
from tests.hosts.conftest import Site
from tests.hosts.onslaught import READINGS, attack_host, find_changed_files, list_own_files
from tests.machines.conftest import ask_root, may_root_log_in
from tests.machines.test_boot import DAEMONS, SKILL
from tests.thorough import examples

pytestmark = [pytest.mark.machines, pytest.mark.timeout(4 * 3600)]

RULES = ("accounts_tmout", "accounts_umask_etc_login_defs", "sysctl_kernel_kptr_restrict")
USUAL, AT_NIGHT = 24, 1000
HERE = {
    "audit rules": "augenrules --load >/dev/null 2>&1; auditctl -l",
    "unit files": "systemctl list-unit-files --no-legend --no-pager | grep -v ' transient '",
    "daemons": f"systemctl is-active {' '.join(DAEMONS)}",
    **READINGS,
}


def test_nobody_loses_a_login_and_nothing_outside_the_rules_changes(machine, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    machine.reset()
    site = Site(tmp_path / "data", machine)
    site.add()
    assert (
        site.temper("scap", "add", str(machine.base_image_folder / "ssg-debian12-ds.xml"), data=False).returncode == 0
    )
    ask_root(machine, "printf '%s\\n' '-w /etc/passwd -p wa -k id' >>/etc/audit/rules.d/audit.rules")
    before, wanted = {name: ask_root(machine, script) for name, script in HERE.items()}, examples(USUAL, AT_NIGHT)
    endured = attack_host(site, SKILL, list(RULES), wanted, turns=1800.0, honest_share=0.0)
    after = {name: ask_root(machine, script) for name, script in HERE.items()}
    assert endured.answers >= wanted
    assert [one for one in endured.applied if one[1] not in read_honest_answers()[one[0]]["paths"]] == []
    changed = find_changed_files(before.pop("files"), after.pop("files"))
    assert changed <= list_own_files(list(RULES)) & {path for _, path in endured.applied}
    assert "-w /etc/passwd -p wa -k id" in after["audit rules"]
    found = {name: sorted({*text.splitlines()} ^ {*after[name].splitlines()}) for name, text in before.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}
    assert may_root_log_in(machine)
