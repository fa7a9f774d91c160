"""What may be changed at a path: nothing that the file has already, and nothing that its syntax cannot hold."""

from app.loop.file_edit_choices_for_roles import (
    SetChoice,
    list_droppable_words,
    list_option_keys,
    list_set_choices,
    remove_word,
)
from app.loop.rule_terms import RuleTerms
from app.loop.shown_file import ShownFile

SSHD = "/etc/ssh/sshd_config"


def test_an_option_with_the_values_that_its_daemon_knows():
    named = RuleTerms(("LogLevel has to be verbose.", "info is not enough."))
    assert list_set_choices(SSHD, "LogLevel ERROR\n", named) == (SetChoice("LogLevel", ("info", "verbose")),)
    assert list_set_choices(SSHD, "LogLevel verbose\n", named) == (SetChoice("LogLevel", ("info",)),)


def test_an_option_that_takes_no_value_and_one_that_takes_a_number():
    path, text = "/etc/security/faillock.conf", "# audit\n# deny = 3\n"
    named = RuleTerms(("The line audit has to stand there.", "Set deny to 4, not to HALT."))
    assert list_set_choices(path, text, named) == (SetChoice("audit", ("",)), SetChoice("deny", ("4",)))


def test_keys_are_the_files_own_and_in_a_section():
    path, text = "/etc/mission/mission.conf", "# what comes in\n[inbox]\nupload_umask = login\nquota=5\n"
    named = RuleTerms(("Give upload_umask a value of its own.",))
    assert list_option_keys(path, text, named) == ("inbox.upload_umask",)
    assert list_option_keys(path, text, named, all_of_them=True) == ("inbox.upload_umask", "inbox.quota")
    assert list_option_keys("/etc/pam.d/system-auth", "auth required x", named) == ()


def test_words_that_the_rule_speaks_of_may_be_taken_off_a_line():
    lines = {1: "# nullok is a word", 3: "auth  sufficient  pam_unix.so nullok", 4: "auth required pam_deny.so"}
    file = ShownFile("/etc/pam.d/x", "", lines, lines)
    (choice,) = list_droppable_words(file, RuleTerms(("No line may carry the argument nullok for auth.",)))
    assert (choice.number, choice.words) == (3, ("nullok",))
    assert remove_word(lines[3], "nullok") == "auth  sufficient  pam_unix.so"
    assert remove_word("a nullok2 nullok b", "nullok") == "a nullok2 b"


def test_a_comment_of_two_words_is_no_option_of_the_file():
    path, text = "/etc/login.defs", "# System accounts\nENCRYPT_METHOD SHA512\n"
    named = RuleTerms(("The system will use YESCRYPT:\nENCRYPT_METHOD YESCRYPT",))
    assert list_set_choices(path, text, named) == (SetChoice("ENCRYPT_METHOD", ("YESCRYPT",)),)


def test_a_setting_of_the_kernel():
    path, named = "/etc/sysctl.conf", RuleTerms(("Run $ sudo sysctl -w net.ipv4.tcp_syncookies=1",))
    assert list_set_choices(path, "#net.ipv4.tcp_syncookies=0\n", named) == (
        SetChoice("net.ipv4.tcp_syncookies", ("1",)),
    )


def test_a_word_of_a_comment_is_no_example_where_keys_may_be_two_words():
    path, named = "/etc/modprobe.d/x.conf", RuleTerms(("Write `blacklist sctp` there.",))
    assert list_set_choices(path, "# blacklist\n", named) == (SetChoice("blacklist", ("sctp",)),)


def test_a_control_of_the_audit_system_is_an_option_and_another_dashed_word_is_none():
    path, named = "/etc/audit/rules.d/audit.rules", RuleTerms(("Set -f to 2 and -w to 2.",))
    assert list_option_keys(path, "", named) == ("-f",)
