import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import BadInput
from app.syntax import audit_rule_files, edit_sshd, key_value_config_parsers, limits_conf, modprobe, sshd
from app.syntax.option_writing_by_file_path import set_option
from app.syntax.setting import find_last
from app.syntax.shell_assignments import parse_assignments
from app.syntax.sysctl import load_as_systemd
from tests.hostfiles import DictFiles

SSHD = "/etc/ssh/sshd_config"


def sshd_says(text, key):
    found = sshd.read_sshd_config(DictFiles({SSHD: text})).get(key)
    return None if found is None else found.value


def last_of(parse):
    def says(text, key):
        found = find_last(parse(text, "f"), key)
        return None if found is None else found.value

    return says


def limits_say(text, key):
    kind, item = key.split()
    rows = [
        x for x in limits_conf.parse_limits(text, "f") if (x.domain, x.item) == ("*", item) and x.kind in {kind, "-"}
    ]
    return rows[-1].value if rows else None


def modprobe_says(text, key):
    rows = modprobe.parse_module_lines(text, "f")
    return next((x.rest for x in rows if f"{x.command} {x.module}" == key), None)


def shell_says(text, key):
    given_values = [a.value for a in parse_assignments(text, "f") if a.name == key and a.surely]
    return given_values[-1] if given_values else None


def sysctl_says(text, key):
    return load_as_systemd([text]).find_value(key)


PLAIN = st.text(string.ascii_letters + string.digits + "./@,-", min_size=1, max_size=12)
LINES = st.sampled_from(
    [
        "",
        "# a comment",
        "#PermitRootLogin yes",
        "PermitRootLogin yes # why",
        "\tpermitrootlogin = yes",
        "Match User bob",
        "  X11Forwarding no",
        "minlen = 8 # why",
        "minlen=9",
        "# minlen = 8",
        "UMASK\t022",
        "UMASK 027",
        "disk_full_action = SUSPEND",
        "Disk_Full_Action = SYSLOG",
        "[main]",
        "[other]",
        "gpgcheck=0",
        "  continued",
        "gpgcheck = 1",
        "* hard maxlogins 20 # why",
        "* - maxlogins 5",
        "* soft maxlogins 5",
        "# End of file",
        "install sctp /bin/x \\",
        "install sctp /bin/true",
        "-f 1",
        "-e 1",
        "-D",
        "-w /etc/passwd -p wa",
        "TMOUT=900",
        "export TMOUT='1'; A=2",
        "if [ -t 0 ]; then TMOUT=7; fi",
        "kernel.randomize_va_space = 0",
        "-kernel/randomize_va_space=1 # why",
        "h\u00e9\u00a0\udcff",
    ]
)
TEXTS = st.builds(
    lambda lines, ends, final: ends.join(lines) + (ends if final else ""),
    st.lists(LINES, max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
KINDS = {
    SSHD: ("PermitRootLogin", sshd_says),
    "/etc/login.defs": ("UMASK", last_of(key_value_config_parsers.parse_login_defs)),
    "/etc/security/pwquality.conf.d/50-site.conf": ("minlen", last_of(key_value_config_parsers.parse_options)),
    "/etc/security/faillock.conf": ("deny", last_of(key_value_config_parsers.parse_options)),
    "/etc/audit/auditd.conf": (
        "disk_full_action",
        last_of(lambda text, path: key_value_config_parsers.parse_auditd_with_problems(text, path)[0]),
    ),
    "/etc/dnf/dnf.conf": ("main.gpgcheck", last_of(key_value_config_parsers.parse_ini)),
    "/etc/mission/mission.conf": ("inbox.upload_umask", last_of(key_value_config_parsers.parse_ini)),
    "/etc/security/limits.conf": ("hard maxlogins", limits_say),
    "/etc/modprobe.d/sctp.conf": ("install sctp", modprobe_says),
    "/etc/audit/audit.rules": ("-f", last_of(audit_rule_files.parse_controls)),
    "/etc/profile.d/tmout.sh": ("TMOUT", shell_says),
    "/etc/sysctl.d/60-own.conf": ("kernel.randomize_va_space", sysctl_says),
}


@pytest.mark.parametrize("path", KINDS)
@settings(deadline=None)  # the machine may be busy
@given(text=TEXTS, value=PLAIN)
def test_the_value_is_in_force_and_a_second_time_changes_nothing(path, text, value):
    key, says = KINDS[path]
    try:
        edited = set_option(path, text, key, value)
    except BadInput:
        # a script that returns early or a dangling backslash leaves no place where the option would hold
        assert path in {"/etc/profile.d/tmout.sh", "/etc/modprobe.d/sctp.conf"}
        return
    assert says(edited, key) == value
    assert set_option(path, edited, key, value) == edited


@pytest.mark.parametrize("path", [path for path in KINDS if not path.endswith(".sh")])
@settings(deadline=None)  # the machine may be busy
@given(text=TEXTS, value=PLAIN)
def test_lines_about_anything_else_stay_as_they_were(path, text, value):
    key, _ = KINDS[path]
    text = re.sub(r"(?m)^[ \t]+|\\", "", text)  # what continues an option rightly goes with it
    word = key.split(".")[-1].split()[-1].lower()
    try:
        edited = set_option(path, text, key, value)
    except BadInput:
        return

    def foreign(held):
        return [s for line in held.split("\n") if word not in (s := line.rstrip("\r")).lower() and s.strip()]

    before, after = foreign(text), foreign(edited)
    header = f"[{key.split('.')[0]}]"
    assert [line for line in after if line != header] == [line for line in before if line != header]
    assert after.count(header) >= before.count(header)


@settings(deadline=None)  # the machine may be busy
@given(text=st.text(max_size=80), value=st.text(max_size=20), path=st.sampled_from(list(KINDS)))
def test_any_text_and_value_is_set_or_refused_in_words(text, value, path):
    key, says = KINDS[path]
    try:
        edited = set_option(path, text, key, value)
    except BadInput:
        return
    if path != SSHD:
        assert says(edited, key) == value


def test_sshd_goes_ahead_of_the_match_block_and_its_comment():
    text = "Port 22\n\n# bob may look\nMatch User bob\n\tPermitTTY no\n"
    assert set_option(SSHD, text, "ClientAliveInterval", "600") == (
        "Port 22\nClientAliveInterval 600\n\n# bob may look\nMatch User bob\n\tPermitTTY no\n"
    )


def test_sshd_replaces_the_line_in_force_and_removes_the_rest():
    text = "UsePAM no # why\nPort 22\nusepam yes\nMatch User bob\nX11Forwarding no\n"
    assert set_option(SSHD, text, "UsePAM", "yes") == "UsePAM yes # why\nPort 22\nMatch User bob\nX11Forwarding no\n"


def test_sshd_goes_below_its_commented_default():
    assert set_option(SSHD, "#UsePAM no\nPort 22\n", "UsePAM", "yes") == "#UsePAM no\nUsePAM yes\nPort 22\n"


def test_sshd_takes_a_value_in_quotes():
    text = set_option(SSHD, 'Banner "/etc/a # b" # c\n', "Banner", '"/etc/my issue"')
    assert text == 'Banner "/etc/my issue" # c\n'
    assert edit_sshd.find_sshd_option(text, "banner") == "/etc/my issue"


def test_a_line_of_nothing_but_blanks_costs_no_time():
    text = "UsePAM a" + " " * 200_000 + "b\n"
    assert set_option(SSHD, text, "UsePAM", "yes") == "UsePAM yes\n"


def test_sshd_leaves_a_match_block_as_it_is():
    text = "Match User bob\nPermitRootLogin yes\n"
    assert set_option(SSHD, text, "PermitRootLogin", "no") == "PermitRootLogin no\n" + text


@pytest.mark.parametrize(
    ("path", "text", "key", "value", "expected"),
    [
        ("/etc/login.defs", "UMASK\t\t022\n", "UMASK", "077", "UMASK\t\t077\n"),
        ("/etc/login.defs", "#UMASK 022\n", "UMASK", "077", "#UMASK 022\nUMASK\t077\n"),
        ("/etc/security/pwquality.conf", "minlen=8 # old\n", "minlen", "15", "minlen=15 # old\n"),
        ("/etc/security/pwquality.conf", "MinLen = 8\n", "minlen", "15", "MinLen = 15\n"),
        ("/etc/security/pwquality.conf", "dcredit=-1\n", "minlen", "15", "dcredit=-1\nminlen=15\n"),
        ("/etc/security/faillock.conf", "audit\n", "even_deny_root", "", "audit\neven_deny_root\n"),
        ("/etc/audit/auditd.conf", "freq=1\n", "disk_full_action", "HALT", "freq=1\ndisk_full_action = HALT\n"),
        (
            "/etc/dnf/dnf.conf",
            "[main]\nbest=1\n\n[x]\na=b\n",
            "gpgcheck",
            "1",
            "[main]\nbest=1\ngpgcheck=1\n\n[x]\na=b\n",
        ),
        ("/etc/dnf/dnf.conf", "", "gpgcheck", "1", "[main]\ngpgcheck = 1\n"),
        ("/etc/dnf/dnf.conf", "[main]\ngpgcheck=0\n  more\n", "gpgcheck", "1", "[main]\ngpgcheck=1\n"),
        (
            "/etc/security/limits.conf",
            "# End of file\n",
            "hard maxlogins",
            "10",
            "* hard maxlogins 10\n# End of file\n",
        ),
        (
            "/etc/security/limits.conf",
            "* - maxlogins 20\nbob hard maxlogins 1\n",
            "hard maxlogins",
            "10",
            "* - maxlogins 20\n* hard maxlogins 10\nbob hard maxlogins 1\n",
        ),
        ("/etc/security/limits.conf", "", "@dev hard nproc", "5", "@dev hard nproc 5\n"),
        (
            "/etc/security/limits.conf",
            "* - nproc 10\n* hard nproc 20\n# End of file\n",
            "- nproc",
            "5",
            "* hard nproc 20\n* - nproc 5\n# End of file\n",
        ),
        ("/etc/modprobe.d/sctp.conf", "blacklist sctp\n", "blacklist", "sctp", "blacklist sctp\n"),
        ("/etc/modprobe.d/a.conf", "", "blacklist", "usb-storage", "blacklist usb-storage\n"),
        ("/etc/modprobe.d/a.conf", "blacklist a_b\n", "blacklist", "a-b", "blacklist a-b\n"),
        ("/etc/modprobe.d/a.conf", "", "install usb-storage", "/bin/a-b", "install usb_storage /bin/a-b\n"),
        ("/etc/modprobe.d/a.conf", "blacklist a-b\nblacklist c\n", "blacklist", "a_b", "blacklist c\nblacklist a_b\n"),
        (
            "/etc/modprobe.d/a.conf",
            "install usb /bin/x\ninstall sctp /bin/y\ninstall sctp /bin/z\n",
            "install sctp",
            "/bin/false",
            "install usb /bin/x\ninstall sctp /bin/false\n",
        ),
        (
            "/etc/modprobe.d/a.conf",
            "install usb /bin/x\n",
            "options usb",
            "a=1",
            "install usb /bin/x\noptions usb a=1\n",
        ),
        ("/etc/audit/audit.rules", "-D\n-w /a\n-e 2\n", "-f", "2", "-D\n-f 2\n-w /a\n-e 2\n"),
        ("/etc/audit/rules.d/x.rules", "-e 1\n-w /a\n", "e", "2", "-w /a\n-e 2\n"),
        ("/etc/profile.d/tmout.sh", "readonly TMOUT=900\n", "TMOUT", "600", "readonly TMOUT=600\n"),
        ("/etc/profile.d/tmout.sh", "", "TMOUT", "600", "TMOUT=600\n"),
    ],
)
def test_each_syntax_keeps_its_looks(path, text, key, value, expected):
    assert set_option(path, text, key, value) == expected


def test_an_option_of_a_kernel_module_replaces_the_others_only_if_it_restates_them():
    path, two = "/etc/modprobe.d/a.conf", "options usb-storage delay_use=5\noptions usb_storage quirks=x\n"
    with pytest.raises(BadInput, match="also has the option 'quirks', which would be lost"):
        set_option(path, two, "options usb-storage", "delay_use=3")
    whole = "quirks=x delay_use=3"
    assert set_option(path, two, "options usb-storage", whole) == f"options usb_storage {whole}\n"


@pytest.mark.parametrize(
    "path",
    ["/etc/sudoers", "/etc/pam.d/system-auth", "/etc/passwd", "/etc/ssh/sshd_config.d/a/b.conf", "/etc/login.defs.bak"],
)
def test_an_unknown_syntax_is_refused_with_the_way_out(path):
    with pytest.raises(BadInput, match="replace_line") as refused:
        set_option(path, "", "a", "b")
    assert "/etc/ssh/sshd_config" in str(refused.value)


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        (SSHD, "PermitRootLogin", "no\nPermitRootLogin yes"),
        (SSHD, "PermitRootLogin", "# no"),
        (SSHD, "PermitRootLogin", ""),
        (SSHD, "Match", "all"),
        (SSHD, "Include", "/etc/x"),
        (SSHD, "# UsePAM", "yes"),
        ("/etc/security/pwquality.conf", "minlen", "15 # x"),
        ("/etc/profile.d/a.sh", "TMOUT", "$(reboot)"),
        ("/etc/profile.d/a.sh", "TMOUT", "600; reboot"),
        ("/etc/profile.d/a.sh", "TM OUT", "600"),
        ("/etc/mission/mission.conf", "upload_umask", "0027"),
        ("/etc/security/limits.conf", "maxlogins", "10"),
        ("/etc/modprobe.d/a.conf", "remove sctp", "x"),
        ("/etc/modprobe.d/a.conf", "blacklist", "usb-storage sctp"),
        ("/etc/audit/audit.rules", "-w", "/etc/passwd"),
        ("/etc/login.defs", "UMASK", " 077"),
    ],
)
def test_what_a_syntax_cannot_hold_is_refused(path, key, value):
    with pytest.raises(BadInput):
        set_option(path, "", key, value)


def test_a_repository_with_a_dot_in_its_id_is_changed_in_its_own_section():
    path, text = "/etc/yum.repos.d/epel.repo", "[epel-9.2]\nname=EPEL\n"
    written = set_option(path, text, "epel-9.2.gpgcheck", "1")
    assert written == f"{text}gpgcheck=1\n"
    assert set_option(path, written, "epel-9.2.gpgcheck", "0") == f"{text}gpgcheck=0\n"
