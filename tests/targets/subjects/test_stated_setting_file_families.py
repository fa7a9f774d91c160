"""Lines of declarative files: how they are read, and where a stated one is put."""

import pytest

from app.targets.subjects.stated_setting_file_families import OTHER, StatedSetting, find_stated_family, load_families


def read(path, text):
    return [(one.key, one.value) for one in find_stated_family(path).list_settings(text)]


def place(path, text, line, section=""):
    return find_stated_family(path).place_line(text, section, line)


DCONF, GRUB, SSSD = "/etc/dconf/db/local.d/00-a", "/etc/default/grub", "/etc/sssd/conf.d/a.conf"


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        (DCONF, "# c\n\n[a/b]\nk='x'\n", [("[a/b]", ""), ("a/b/k", "'x'")]),
        (DCONF, "k='x'\n", [(OTHER, "k='x'")]),
        (DCONF, "[a]\n k=1\n", [("[a]", ""), (OTHER, " k=1")]),
        ("/etc/dconf/db/local.d/locks/a", "/a/b\n", [("/a/b", "")]),
        (SSSD, "[pam]\nk = 1,\n  2\n", [("[pam]", ""), ("pam/k", "1,\n  2")]),
        ("/etc/chrony.conf", "! c\nport 0\nrtcsync\n", [("port", "0"), (OTHER, "rtcsync")]),
        (
            GRUB,
            'GRUB_CMDLINE_LINUX="a b=1"\nX=1\n',
            [*[("GRUB_CMDLINE_LINUX a", ""), ("GRUB_CMDLINE_LINUX b", "1")], (OTHER, "X=1")],
        ),
        (
            GRUB,
            "GRUB_CMDLINE_LINUX=a\nexport GRUB_CMDLINE_LINUX\n",
            [(OTHER, "GRUB_CMDLINE_LINUX=a"), (OTHER, "export GRUB_CMDLINE_LINUX")],
        ),
        ("/etc/rsyslog.conf", "cron.*\t/var/log/cron\n& stop\n", [("cron.*", "/var/log/cron"), (OTHER, "& stop")]),
        (
            "/etc/security/pwhistory.conf",
            "remember=5\nenforce_for_root\n",
            [("remember", "5"), ("enforce_for_root", "")],
        ),
        ("/etc/profile", "    umask 022;\n", [("umask", "022")]),
    ],
)
def test_each_live_line_is_a_setting_or_another_line(path, text, found):
    assert read(path, text) == found


@pytest.mark.parametrize(
    ("path", "before", "line", "section", "after"),
    [
        (DCONF, "", "k=1", "a", "[a]\nk=1\n"),
        (DCONF, "[a]\nk=2\n[b]\nk=2\n", "k=1", "a", "[a]\nk=1\n[b]\nk=2\n"),
        (DCONF, "[a]\nx=2\n\n[b]\nk=2\n", "k=1", "a", "[a]\nx=2\nk=1\n\n[b]\nk=2\n"),
        (DCONF, "[a]\nk=1\n", "k=1", "a", "[a]\nk=1\n"),
        (SSSD, "[pam]\nx = 1,\n  2\n", "pam_cert_auth = True", "", "[pam]\nx = 1,\n  2\npam_cert_auth = True\n"),
        ("/etc/aliases", "postmaster:\troot\n", "postmaster: root", "", "postmaster:\troot\n"),
        ("/etc/chrony.conf", "server a\nport 123\n", "port 0", "", "server a\nport 0\n"),
        ("/etc/rsyslog.conf", "cron.* /tmp/x\n", "cron.* /var/log/cron", "", "cron.* /tmp/x\ncron.* /var/log/cron\n"),
        (GRUB, "", 'GRUB_CMDLINE_LINUX="a=1"', "", 'GRUB_CMDLINE_LINUX="a=1"\n'),
        (GRUB, "", 'GRUB_CMDLINE_LINUX="... a=1 ..."', "", 'GRUB_CMDLINE_LINUX="a=1"\n'),
        (
            GRUB,
            "GRUB_CMDLINE_LINUX='r a=0 q'\nX=1\n",
            'GRUB_CMDLINE_LINUX="a=1 b"',
            "",
            'GRUB_CMDLINE_LINUX="r a=1 q b"\nX=1\n',
        ),
    ],
)
def test_a_stated_line_is_put_where_it_counts(path, before, line, section, after):
    assert place(path, before, line, section) == after
    assert place(path, after, line, section) == after


def test_the_data_is_sound():
    names = [family.name for family in load_families()]
    assert len(names) == len(set(names)) >= 18
    for family in load_families():
        values = ("600", "uint32 600", "077", "1", "5", "30", "sha512", "8192")
        for key in family.ranks:
            assert any(family.is_permitted_if_stated(StatedSetting(key, value, 1)) for value in values), key
        assert {"key", "value"} <= set(family.pattern.groupindex), family.name
