import pytest

from app.syntax.audit_fields import HostNames
from app.syntax.auditctl import read_command, split_audit_line_at_spaces_ignoring_quotes

NAMES = HostNames({"root": 0}, {"wheel": 10}, {"x86_64": {"mount", "execve"}, "i386": {"mount", "umount"}}, "x86_64")


def read(line):
    return read_command(split_audit_line_at_spaces_ignoring_quotes(line), NAMES, {"/etc", "/"}.__contains__)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("-w  /etc/x   -p wa ", ("-w", "/etc/x", "-p", "wa")),
        (r"-w /etc/a\ b", ("-w", "/etc/a b")),
        (r"-k a\\b", ("-k", r"a\b")),
        ("-k a\tb", ("-k", "a\tb")),
        ("-a b c d e f g h", ("-a", "b", "c", "d", "e", "f")),
        ("   ", ()),
    ],
)
def test_only_blanks_split_and_words_beyond_a_third_of_the_letters_are_dropped(line, words):
    assert split_audit_line_at_spaces_ignoring_quotes(line) == words


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("garbage", "parameter passed without an option given"),
        ("-b 64 x", "parameter passed without an option given"),
        ("-Z", "Option -Z is invalid"),
        ("-w", "Option -w is invalid"),
        ("--reset", "Option --reset is invalid"),
        ("-f 3", "-f must be a number was 3"),
        ("-S mount", "no list specified"),
        ("-F uid=0", "List must be given before field"),
        ("-a always,exit -k x -S mount", "key option needs a watch or syscall given prior to it"),
        ("-a always,exit -S mount -F arch=b64", "arch must be before -S"),
        ("-a always,exit -S umount", "Syscall name unknown: umount (on x86_64)"),
        ("-a always,task -S mount", "syscall auditing being added to task list"),
        ("-a possible,exit -S mount", "bad keyword possible,exit"),
        ("-a always,exit -d always,exit", "Multiple rule insert/delete operations are not allowed"),
        ("-w /etc/x -w /etc/y", "watch option can't be given with a syscall"),
        ("-a always,exit -S mount -p wa", "permission option needs a watch given prior to it"),
        ("-D -k", "Wrong number of options for -D"),
        ("-R /etc/x", "-R cannot be used in this way"),
    ],
)
def test_what_auditctl_itself_refuses(line, why):
    assert read(line).fault == why


def test_a_watch_is_a_rule_about_a_path_with_all_permissions_until_it_names_some():
    whole, folder, some = read("-w /etc/x/"), read("-w /etc"), read("-k a -w /etc/x")
    assert whole.identity == read("-a always,exit -F path=/etc/x -F perm=rwxa").identity
    assert [one.name for one in folder.fields] == ["dir", "perm"]
    assert some.fault.startswith("key option needs")
    assert read("-w /etc/x -k a -p wa").identity == read("-a always,exit -F path=/etc/x -F perm=wa -k a").identity


def test_what_a_line_asks_for_beside_rules():
    assert read("-b 64 -f2").requests == [("-b", "64"), ("-f", "2")]
    assert read("--backlog 10").requests == [("--backlog_wait_time", "10")]
    assert (read("-D").clears, read("-D -k x").clears) == (True, False)
    assert (read("-i").ignores_errors, read("-c").ignores_errors) == (True, True)
    assert read("-a exit,possible").is_skipped
    assert (read("-A never,exit -S mount").is_prepended, read("-d never,exit -S mount").is_deletion) == (True, True)


def test_bytes_of_a_path_and_of_a_key_count_whatever_they_are():
    odd = "\udcff"  # a byte that is no UTF-8
    assert read(f"-w /etc/{odd * 255} -k {odd * 256}").fault == ""
    assert read(f"-w /etc/{odd * 256}").fault == "File name too long"
    assert read(f"-w /etc/x -k {odd * 257}").fault.startswith("the key is longer")
