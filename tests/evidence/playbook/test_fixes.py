import subprocess

import pytest

from app.events.vocabulary import FileChange
from app.evidence.playbook.bash_script import render_script
from app.evidence.playbook.edits import NotRecorded
from app.evidence.playbook.fixes import build_shell_commands
from app.evidence.playbook.standalone_health_checks import PlainCheck
from app.resources.account import SetAgeing
from app.resources.kind import ShellCommands
from app.resources.mount import AddMountOptions
from app.resources.package import InstallPackage, RemovePackage
from app.resources.unit import SetUnit
from app.resources.vendor_script import create_vendor_action
from tests.evidence.playbook.fresh import fix


def test_each_kind_is_said_in_a_hosts_own_tools():
    came = [
        FileChange("package:aide", None, "a"),
        FileChange("package:libx", None, "b"),
        FileChange("/etc/a", None, "c"),
    ]
    install = build_shell_commands(InstallPackage(package="aide"), came)
    assert "apt-get -y -q install aide" in install.do
    assert "apt-get -y -q purge aide libx" in install.undo
    assert build_shell_commands(RemovePackage(package="telnet"), ()).look.startswith("! {")
    assert build_shell_commands(SetUnit(unit="cups.service", to="mask"), ()).undo == "systemctl unmask cups.service"
    assert build_shell_commands(SetAgeing(account="ana", setting="max", days=60), ()).do == "chage -M 60 ana"
    mount = build_shell_commands(AddMountOptions(mount="/tmp", options=("nodev", "nosuid")), ())
    assert "mount -o remount,nodev,nosuid /tmp" in mount.do
    assert mount.undo.endswith("mount -o remount,dev,suid,${said:-rw} /tmp")
    for one in (install, mount):
        for text in (one.look, one.do, one.undo):
            assert subprocess.run(["sh", "-n", "-c", text], check=False).returncode == 0


def test_a_vendors_script_is_left_out_with_its_digest():
    with pytest.raises(NotRecorded, match=r"sha256 [0-9a-f]{64}"):
        build_shell_commands(create_vendor_action("r", "true"), ())


def test_the_script_does_a_deed_once_and_takes_it_back_where_the_host_is_worse(tmp_path):

    flag = tmp_path / "flag"
    one = ShellCommands(f"[ -e {flag} ]", f"touch {flag}", f"rm -f {flag}")

    def run(*checks, words=()):
        file = tmp_path / "harden.sh"
        file.write_bytes(render_script(fix(deeds=(one,), checks=checks), "r", ""))
        kept = {"TEMPER_KEPT": str(tmp_path / "kept"), "PATH": "/usr/bin:/bin"}
        return subprocess.run(["bash", str(file), *words], env=kept, capture_output=True, text=True, check=False)

    assert "would change what is no file" in run(words=("--check",)).stdout
    assert not flag.exists()
    worse = PlainCheck("x", "no flag stands", f"[ ! -e {flag} ]")
    assert run(worse).returncode == 2
    assert not flag.exists()
    assert "changed" in run().stdout
    assert flag.exists()
    assert ": ok," in run().stdout
