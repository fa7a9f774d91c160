import shutil
import subprocess

import pytest

from app.events.event_field_types import FileChange
from app.evidence.playbook.bash_script import render_script
from app.evidence.playbook.line_edits_from_recorded_changes import NotRecorded
from app.evidence.playbook.repeatable_fixes import PlainCheck, build_shell_commands
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
    (install,) = build_shell_commands(InstallPackage(package="aide"), came)
    assert "apt-get -y -q install aide" in install.do
    assert "apt-get -y -q purge aide libx" in install.undo
    assert build_shell_commands(RemovePackage(package="telnet"), ())[0].look.startswith("! {")
    assert build_shell_commands(SetUnit(unit="cups.service", to="mask"), ())[0].undo == "systemctl unmask cups.service"
    assert build_shell_commands(SetAgeing(account="ana", setting="max", days=60), ())[0].do == "chage -M 60 ana"
    _, mount = build_shell_commands(AddMountOptions(mount="/tmp", options=("nosuid",)), ())
    assert mount.do.endswith("-o remount,$live,nosuid /tmp")
    assert mount.undo.endswith("-o remount,$live,suid /tmp")
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


SYSTEMCTL = """#!/bin/sh
cd {tree} || exit
case " $* " in *" --now "*) now=$1; set -- "$1" "$3" ;; esac
case $1$now in start | enableenable) touch active ;; stop | disabledisable) rm -f active ;; esac
case $1 in
start | stop | daemon-reload) ;;
is-active) [ -e active ] ;;
*) exec {systemctl} --root=. "$@" ;;
esac
"""
"""The real one on files of the test's own, and whether its one service is active."""


@pytest.fixture
def systemctl(tmp_path):
    """Run systemctl on a host where tidy.service is enabled and active."""
    folder = tmp_path / "tree/etc/systemd/system"
    folder.mkdir(parents=True)
    for name in ("multi-user", "graphical", "rescue"):
        (folder / f"{name}.target").write_text("[Unit]\nAllowIsolate=yes\n")
    (folder / "tidy.service").write_text("[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n")
    (tmp_path / "bin").mkdir()
    file = tmp_path / "bin/systemctl"
    file.write_text(SYSTEMCTL.format(tree=tmp_path / "tree", systemctl=shutil.which("systemctl")))
    file.chmod(0o755)

    def run(*words):
        ran = subprocess.run([file, *words], capture_output=True, text=True, check=False)
        return ran.stdout.strip() or ran.returncode

    run("enable", "--now", "tidy.service")
    return run


@pytest.mark.parametrize(
    ("action", "before"),
    [
        (SetUnit(unit="tidy.service", to="enable-now"), ("stop", "tidy.service")),
        (SetUnit(unit="tidy.service", to="enable-now"), ("disable", "tidy.service")),
        (SetUnit(unit="tidy.service", to="enable-now"), ("disable", "--now", "tidy.service")),
        (SetUnit(unit="multi-user.target", to="set-default"), ("set-default", "rescue.target")),
    ],
)
def test_a_unit_is_as_it_was_where_the_host_is_worse(tmp_path, systemctl, action, before):
    def look():
        return systemctl("is-enabled", "tidy.service"), systemctl("is-active"), systemctl("get-default")

    systemctl(*before)
    was = look()
    once = PlainCheck("x", "it is asked once", f"mkdir {tmp_path}/asked")
    script = render_script(fix(deeds=build_shell_commands(action, ()), checks=(once,)), "r", "")
    file = tmp_path / "harden.sh"
    file.write_bytes(script.replace(b"(/etc/systemd", f"({tmp_path}/tree/etc/systemd".encode()))
    env = {"TEMPER_KEPT": str(tmp_path / "kept"), "PATH": f"{tmp_path}/bin:/usr/bin:/bin"}
    ran = subprocess.run(["bash", str(file)], env=env, capture_output=True, text=True, check=False)
    assert "after the change, not so" in ran.stderr
    assert look() == was
