from app.syntax import pam
from tests.hostfiles import DictFiles


def read(text):
    return pam.parse_service(text, "/etc/pam.d/x")


def test_lines_have_kind_control_module_and_arguments():
    stack = read(
        "auth\tsufficient  pam_unix.so nullok try_first_pass\n-session optional /lib64/security/pam_systemd.so\n"
    )
    assert [(r.kind, r.control, r.module, r.arguments) for r in stack.rules] == [
        ("auth", "sufficient", "pam_unix.so", ("nullok", "try_first_pass")),
        ("session", "optional", "pam_systemd.so", ()),
    ]


def test_brackets_hold_blanks():
    stack = read("auth [success=1 default=ignore] pam_unix.so [arg with \\] blanks] last\n")
    assert stack.rules[0].control == "success=1 default=ignore"
    assert stack.rules[0].arguments == ("arg with ] blanks", "last")


def test_a_backslash_joins_and_a_comment_hides_it():
    joined = read("auth required pam_unix.so \\\n  nullok\n")
    hidden = read("# auth required pam_unix.so \\\nauth required pam_deny.so # nullok\n")
    assert joined.rules[0].arguments == ("nullok",)
    assert [(r.module, r.arguments, r.line) for r in hidden.rules] == [("pam_deny.so", (), 2)]


def test_broken_lines_are_problems():
    stack = read(
        "auth required\nauht required pam_unix.so\nauth sometimes pam_unix.so\n" + "auth required " + "x" * 5000
    )
    assert sorted({p.line for p in stack.problems}) == [1, 2, 3, 4]
    assert [len(rule.module) for rule in stack.rules] == [1009]


def test_includes_and_substacks_are_expanded_for_their_kind():
    files = DictFiles(
        {
            "/etc/pam.d/sshd": "auth substack common\naccount include common\n",
            "/etc/pam.d/common": "auth required a.so\naccount required b.so\n",
        }
    )
    stack = pam.read_stack_with_includes(files, "/etc/pam.d/sshd")
    assert [(r.kind, r.module, r.path) for r in stack.rules] == [
        ("auth", "a.so", "/etc/pam.d/common"),
        ("account", "b.so", "/etc/pam.d/common"),
    ]
    assert [r.module for r in stack.list_rules_of_kind("auth")] == ["a.so"]


def test_debians_include_is_read_for_every_kind():
    files = DictFiles(
        {"/etc/pam.d/x": "@include common\n", "/etc/pam.d/common": "auth required a.so\nsession required b.so\n"}
    )
    assert [r.module for r in pam.read_stack_with_includes(files, "/etc/pam.d/x").rules] == ["a.so", "b.so"]


def test_an_absent_or_endless_include_is_a_problem():
    files = DictFiles({"/etc/pam.d/x": "auth include x\nauth include x\naccount include none\n"})
    texts = {p.text for p in pam.read_stack_with_includes(files, "/etc/pam.d/x").problems}
    assert any("without an end" in text for text in texts)
    assert pam.read_stack_with_includes(DictFiles({}), "/etc/pam.d/y").problems[0].text == "/etc/pam.d/y is absent"
