from app.syntax import modprobe
from tests.hostfiles import DictFiles


def test_commands_are_read_and_dashes_are_underscores():
    text = "install usb-storage /bin/false\n#blacklist sctp\nblacklist\tsctp\ninstall sctp \\\n  /bin/true\n"
    found = [(x.command, x.module, x.rest, x.line) for x in modprobe.parse_module_lines(text, "f")]
    assert found == [
        ("install", "usb_storage", "/bin/false", 1),
        ("blacklist", "sctp", "", 3),
        ("install", "sctp", "/bin/true", 4),
    ]


def test_only_conf_files_count():
    files = DictFiles({"/etc/modprobe.d/a.conf": "blacklist a\n", "/etc/modprobe.d/b.conf.bak": "blacklist b\n"})
    assert [x.module for x in modprobe.read_etc_module_lines(files)] == ["a"]
