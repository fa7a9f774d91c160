from app.files import FileState
from app.targets.diff import unified


def state(text, mode=0o644):
    return FileState(text.encode(), mode, "root:root")


def test_lines_modes_and_new_files():
    before = {"/etc/a": state("one\ntwo\n"), "/etc/b": state("", 0o644), "/etc/c": None}
    after = {"/etc/a": state("one\n2\n"), "/etc/b": state("", 0o600), "/etc/c": state("new\n")}
    assert unified(before, after).splitlines() == [
        "diff a/etc/a b/etc/a",
        "--- a/etc/a",
        "+++ b/etc/a",
        "@@ -1,2 +1,2 @@",
        " one",
        "-two",
        "+2",
        "diff a/etc/b b/etc/b",
        "old mode 0644",
        "new mode 0600",
        "diff a/etc/c b/etc/c",
        "new file mode 0644",
        "--- /dev/null",
        "+++ b/etc/c",
        "@@ -0,0 +1 @@",
        "+new",
    ]


def test_a_missing_newline_at_the_end_is_seen():
    assert "No newline" in unified({"/etc/a": state("one\n")}, {"/etc/a": state("one")})


def test_hostile_text_is_cleaned_and_bounded():
    found = unified({"/etc/issue": None}, {"/etc/issue": state("\x1b[2Jgone\u202e\n" + "x" * 5000 + "\n")})
    assert "+gone\n" in found
    assert max(len(line) for line in found.splitlines()) <= 400
    long = unified({"/etc/issue": None}, {"/etc/issue": state("line\n" * 50_000)})
    assert len(long) < 40_000
    assert "more characters are not shown" in long


def test_passwords_are_not_shown():
    found = unified({"/etc/shadow": state("root:$6$hash\n")}, {"/etc/shadow": state("root:$6$other\n", 0)})
    assert "hash" not in found
    assert "other" not in found
    assert "new mode 0000" in found
