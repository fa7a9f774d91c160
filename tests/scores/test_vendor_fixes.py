"""What the vendor's script leaves is read from the scanner's own results."""

import asyncio
from types import SimpleNamespace

import msgspec
import pytest

from app.errors import EnvironmentUnusable
from app.events.event_field_types import Probe
from app.scores import vendor_fixes
from app.scores.score_structures import ScoreOrder
from app.scores.ssh_client import SshResult
from app.scores.vendor_fixes import VendorOutcome, parse_outcome, run_no_fixes_between_scans
from app.targets.rootfs.loopback_sshd_port_and_known_hosts import SshAccess

RESULTS = """<?xml version="1.0"?><Benchmark xmlns="http://checklists.nist.gov/xccdf/1.2"><TestResult id="t">
<rule-result idref="a"><result>{}</result></rule-result>
<rule-result idref="b"><result>notselected</result></rule-result>
</TestResult></Benchmark>"""


def out(first, last):
    parts = f"<<before>>\n{RESULTS.format(first)}\n<<after>>\n{RESULTS.format(last)}\n"
    return f"{parts}<<deeds>>\nroot\tno\n<<took>>\n10.5 12.0\n".encode()


def test_before_and_after_are_read():
    assert parse_outcome(SshResult(0, out("fail", "pass"), "")) == VendorOutcome(
        {"a": "fail"}, {"a": "pass"}, {"root": "no"}, 1.5
    )


def test_a_script_that_did_not_run_is_told():
    with pytest.raises(EnvironmentUnusable, match="no script was generated"):
        parse_outcome(SshResult(9, b"", "no script was generated"))


async def test_doing_nothing_is_two_scans_without_a_fix_between_them(tmp_path, monkeypatch):
    (tmp_path / "answer").write_bytes(out("fail", "fail"))
    ssh = tmp_path / "ssh"
    ssh.write_text(f'#!/bin/sh\necho "$*" >{tmp_path}/asked\ncat >{tmp_path}/script\ncat {tmp_path}/answer\n')
    ssh.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    access = SshAccess(2222, "temper", tmp_path / "key", tmp_path / "known_hosts")
    found = await run_no_fixes_between_scans(access, "--rule a", "/content.xml", "profile")
    assert (found.before, found.after) == ({"a": "fail"}, {"a": "fail"})
    assert (tmp_path / "asked").read_text().endswith("temper@127.0.0.1 sudo -n bash -s -- /content.xml profile\n")
    lines = (tmp_path / "script").read_text().splitlines()
    assert [line for line in lines if line.startswith("scan ")] == ["scan before", "scan after"]
    assert any('--profile "$profile" --rule a --results' in line for line in lines)
    assert not [line for line in lines if "generate fix" in line or "fix.sh" in line]


@pytest.mark.parametrize(("machine_kind", "worse"), [("el9", ()), (msgspec.UNSET, ("selinux-denials: new: login",))])
def test_what_a_boot_was_denied_is_no_harm_of_a_trial_that_ends_with_one(monkeypatch, machine_kind, worse):
    async def find_no_way(_):
        return {}

    async def fix_nothing(_):
        return vendor_fixes.VendorOutcome({}, {}, {}, 1.0)

    monkeypatch.setattr(vendor_fixes, "probe_ways_to_root", find_no_way)
    looks = iter([Probe(name="selinux-denials", ok=True, detail="x", weak=weak) for weak in ((), ("login",))])
    target = SimpleNamespace(prepare=lambda **_: None, check_health=lambda: [next(looks)])
    order = ScoreOrder(
        label="x", kind="baseline", skill="stig", rules=("V-257984",), seeds=1, hosts=1, machine_kind=machine_kind
    )
    trial = asyncio.run(vendor_fixes.run_vendor_trial_on_new_machine(order, 1, SimpleNamespace(), target, fix_nothing))
    assert trial.worse == worse
