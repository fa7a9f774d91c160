import os
import pwd
import subprocess

import pytest

from app.evidence.playbook.bash_script import build_script, render_script
from app.evidence.playbook.line_edits_from_recorded_changes import PlaybookEdit
from app.evidence.playbook.repeatable_fixes import PlainCheck, build_shell_commands, collect_portable_fixes
from app.resources.permission import SetPermissions
from tests.evidence.playbook.fresh import HOSTILE, fix, fresh_host, harmful, tree, words


@pytest.fixture
def run(tmp_path):
    def runs(content, *arguments):
        file = tmp_path / "harden.sh"
        file.write_bytes(content)
        kept = {"TEMPER_KEPT": str(tmp_path / "kept")}
        return subprocess.run(
            ["bash", str(file), *arguments], env=os.environ | kept, capture_output=True, text=True, check=False
        )

    return runs


def test_a_fresh_host_passes_what_the_run_passed_and_a_second_time_changes_nothing(tmp_path, case, run):
    rules = [fix.rule.id for fix in collect_portable_fixes(case).fixes]
    target = fresh_host(tmp_path / "hosts")
    root = tmp_path / "hosts/fixture/root"
    assert set(words(target, rules).values()) == {"fail"}
    was = tree(root)
    looked = run(build_script(case), "--root", str(root), "--check")
    assert looked.stdout.count("would change") == len(rules)
    assert tree(root) == was
    done = run(build_script(case), "--root", str(root))
    assert (done.returncode, done.stderr) == (0, "")
    assert set(words(target, rules).values()) == {"pass"}
    now = tree(root)
    again = run(build_script(case), "--root", str(root))
    assert again.stdout.count(": ok,") == len(rules)
    assert tree(root) == now
    assert [path.name for path in root.rglob("*.temper-new")] == []
    kept = list((tmp_path / "kept").rglob("sshd_config"))
    assert was[str(root / "etc/ssh/sshd_config")][1] in [path.read_bytes() for path in kept]


def test_one_rule_by_name(tmp_path, case, run):
    fresh_host(tmp_path / "hosts")
    done = run(build_script(case), "--root", str(tmp_path / "hosts/fixture/root"), "V-257934")
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["V-257934"]


def test_what_was_left_out_is_said(case):
    head = build_script(case).decode().split("set -u")[0]
    assert "# V-258229: deferred" in head
    assert "# V-258106: escalated" in head


def test_a_host_that_is_not_as_the_runs_was_is_left_alone(tmp_path, run):
    file = tmp_path / "etc/motd"
    file.parent.mkdir()
    file.write_text("neither\n")
    done = run(render_script(fix(PlaybookEdit("replace", "/etc/motd", "old", "new")), "r", ""), "--root", str(tmp_path))
    assert done.returncode == 2
    assert "/etc/motd has neither the line that the run found nor the one that it left: old" in done.stderr
    assert file.read_text() == "neither\n"


def test_an_option_with_a_third_value_is_changed_where_one_line_states_it_and_no_match_does(tmp_path, run):
    file = tmp_path / "etc/ssh/sshd_config"
    file.parent.mkdir(parents=True)
    made = render_script(
        fix(PlaybookEdit("replace", "/etc/ssh/sshd_config", "X yes", "X no", "^[ \t]*X([ \t]*=|[ \t])")), "r", ""
    )
    for text, after in (("A 1\nx maybe\nB 2", "A 1\nX no\nB 2\n"), ("X a\nX b\n", None), ("X a\nMatch all\n", None)):
        file.write_text(text)
        done = run(made, "--root", str(tmp_path))
        assert done.returncode == (2 if after is None else 0)
        assert file.read_text() == (after or text)


def test_what_makes_the_host_worse_is_put_back(tmp_path, run):
    file = tmp_path / "file"
    file.write_text("good\n\n")
    file.chmod(0o640)
    done = run(render_script(harmful(file), "r", ""))
    assert done.returncode == 2
    assert "after the change, not so: no line says bad" in done.stderr
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("good\n\n", 0o640)


def test_permissions_are_put_back_as_they_were_on_this_host(tmp_path, run):
    folder, owner = tmp_path / "cron.d", 8 if os.geteuid() == 0 else os.geteuid()
    folder.mkdir()
    os.chown(folder, owner, -1)
    folder.chmod(0o775)
    was = (folder.stat().st_mode, folder.stat().st_uid, folder.stat().st_gid)
    words = ({"mode": "2700"}, {"owner": pwd.getpwuid(os.geteuid()).pw_name, "mode": "0500"})
    deeds = tuple(one for word in words for one in build_shell_commands(SetPermissions(path=str(folder), **word), ()))
    asks = PlainCheck("sudoers", "the folder can be written to", f"[ $(stat -c %a {folder}) = 775 ]")
    done = run(render_script(fix(deeds=deeds, checks=(asks,)), "r", ""))
    assert "after the change, not so: the folder can be written to" in done.stderr
    assert (folder.stat().st_mode, folder.stat().st_uid, folder.stat().st_gid) == was
    done = run(render_script(fix(deeds=deeds), "r", ""))
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder.stat().st_mode & 0o777, folder.stat().st_uid) == (0o500, os.geteuid())


def test_permissions_of_what_a_link_leads_to_are_left(tmp_path, run):
    (tmp_path / "real").mkdir(mode=0o755)
    (tmp_path / "link").symlink_to("real")
    deeds = tuple(build_shell_commands(SetPermissions(path=str(tmp_path / "link"), mode="0700"), ()))
    done = run(render_script(fix(deeds=deeds), "r", ""))
    assert (done.returncode, "link is a link" in done.stdout) == (2, True)
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o755


def test_hostile_text_is_text(tmp_path, run):
    (tmp_path / "etc").mkdir()
    file = tmp_path / "etc/motd"
    file.write_text("plain\n\n")
    edits = (
        PlaybookEdit("replace", "/etc/motd", "plain", HOSTILE),
        PlaybookEdit("insert", "/etc/motd", new="-n \\t" + HOSTILE, after=HOSTILE),
        PlaybookEdit("write", "/etc/new", new=f"{HOSTILE}\n\n{HOSTILE}", mode="0600"),
    )
    done = run(render_script(fix(*edits), HOSTILE, HOSTILE), "--root", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert file.read_text() == f"{HOSTILE}\n-n \\t{HOSTILE}\n\n"
    assert (tmp_path / "etc/new").read_text() == f"{HOSTILE}\n\n{HOSTILE}"


def test_a_link_is_not_followed_out_of_an_image(tmp_path, run):
    outside = tmp_path / "outside"
    outside.write_text("old\n")
    (tmp_path / "root/etc").mkdir(parents=True)
    (tmp_path / "root/etc/motd").symlink_to(outside)
    done = run(
        render_script(fix(PlaybookEdit("replace", "/etc/motd", "old", "new")), "r", ""),
        "--root",
        str(tmp_path / "root"),
    )
    assert done.returncode == 2
    assert outside.read_text() == "old\n"
