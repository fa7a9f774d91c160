import pytest

from app.syntax.host_files_protocol import FileState
from app.targets.change_diff import AROUND, render_file_diffs


def state(text, mode=0o644):
    return FileState(text.encode(), mode, "root:root")


def test_lines_modes_and_new_files():
    before = {"/etc/issue": state("one\ntwo\n"), "/etc/login.defs": state("", 0o644), "/etc/motd": None}
    after = {"/etc/issue": state("one\n2\n"), "/etc/login.defs": state("", 0o600), "/etc/motd": state("new\n")}
    assert render_file_diffs(before, after).splitlines() == [
        "diff a/etc/issue b/etc/issue",
        "--- a/etc/issue",
        "+++ b/etc/issue",
        "@@ -1,2 +1,2 @@",
        " one",
        "-two",
        "+2",
        "diff a/etc/login.defs b/etc/login.defs",
        "old mode 0644",
        "new mode 0600",
        "diff a/etc/motd b/etc/motd",
        "new file mode 0644",
        "--- /dev/null",
        "+++ b/etc/motd",
        "@@ -0,0 +1 @@",
        "+new",
    ]


def test_more_of_the_file_around_a_change_is_shown_where_it_is_asked_for():
    lines = [f"line {number}" for number in range(40)]
    before, after = ("\n".join(lines) + "\n", "\n".join([*lines[:20], "new", *lines[21:]]) + "\n")
    files = {"/etc/issue": state(before)}, {"/etc/issue": state(after)}
    assert render_file_diffs(*files).splitlines()[3:5] == ["@@ -18,7 +18,7 @@", " line 17"]
    assert render_file_diffs(*files, AROUND).splitlines()[3:5] == ["@@ -9,25 +9,25 @@", " line 8"]


def test_a_missing_newline_at_the_end_is_seen():
    assert "No newline" in render_file_diffs({"/etc/issue": state("one\n")}, {"/etc/issue": state("one")})


def test_hostile_text_is_cleaned_and_bounded():
    found = render_file_diffs({"/etc/issue": None}, {"/etc/issue": state("\x1b[2Jgone\u202e\n" + "x" * 5000 + "\n")})
    assert "+gone\n" in found
    assert max(len(line) for line in found.splitlines()) <= 400
    long = render_file_diffs({"/etc/issue": None}, {"/etc/issue": state("line\n" * 50_000)})
    assert len(long) < 40_000
    assert "more characters are not shown" in long


def test_passwords_are_not_shown():
    found = render_file_diffs({"/etc/shadow": state("root:$6$hash\n")}, {"/etc/shadow": state("root:$6$other\n", 0)})
    assert "hash" not in found
    assert "other" not in found
    assert "new mode 0000" in found


@pytest.mark.parametrize("path", ["/etc/wireguard/wg0.conf", "/root/pgpass", "/etc/ppp/chap-secrets", "/etc/fstab"])
def test_of_a_file_that_nobody_judges_nothing_is_shown(path):
    found = render_file_diffs({path: state("CANARY here\n")}, {path: state("CANARY here\nmore\n", 0o600)})
    assert "CANARY" not in found
    assert "not shown: this rule has no need of it" in found
    assert "new mode 0600" in found


def test_a_short_key_in_a_file_that_is_closed_on_the_host_is_taken_out():
    lines = "Defaults use_pty\nmission ALL=(ALL) /usr/bin/x h7Kq2Zp9Lm4W\n"
    closed, open_ = (
        render_file_diffs({"/etc/sudoers": None}, {"/etc/sudoers": state(lines, mode)}) for mode in (0o440, 0o644)
    )
    assert "h7Kq2Zp9Lm4W" not in closed
    assert "h7Kq2Zp9Lm4W" in open_
    assert "+Defaults use_pty" in closed
