import pytest

from app.skills.stig.pack import STIG
from tests.hostfiles import DictFiles

PATH = "/etc/modprobe.d/sctp.conf"


def judge(text, path=PATH, **more):
    return STIG.rules["V-257807"].check(
        DictFiles({path: text} | {f"/etc/modprobe.d/{k}.conf": v for k, v in more.items()})
    )


@pytest.mark.parametrize(
    "text",
    [
        "install sctp /bin/false\nblacklist sctp\n",
        "blacklist\tsctp\n\tinstall  sctp\t/usr/bin/true \n",
        "install sctp \\\n/bin/false\nblacklist sctp",
    ],
)
def test_a_disabled_module_passes(text):
    assert judge(text).word == "pass"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# install sctp /bin/false\n# blacklist sctp\n",
        "install sctp /bin/false\n",
        "blacklist sctp\n",
        "install sctp /sbin/modprobe sctp\nblacklist sctp\n",
        "install sctp /bin/false; modprobe sctp\nblacklist sctp\n",
        "install sctp /bin/false\ninstall sctp /bin/sh\nblacklist sctp\n",
        "install sctp_diag /bin/false\nblacklist sctp_diag\n",
        # modprobe takes the carriage return for a letter
        "install sctp /bin/false\nblacklist sctp\r\n",
        "install sctp /bin/false\r\nblacklist sctp\n",
        "install s\u0441tp /bin/false\nblacklist s\u0441tp\n",
        "install sctp\u00a0/bin/false\nblacklist sctp\n",
        "# a \\\ninstall sctp /bin/false\nblacklist sctp\n",
    ],
)
def test_a_module_that_can_load_fails(text):
    assert judge(text).word == "fail"


def test_what_would_run_instead_is_shown_without_its_tricks():
    assert "<U+001B>" in judge("install sctp /bin/\x1b[2J\nblacklist sctp\n").evidence


def test_every_conf_file_counts_and_no_other():
    assert judge("install sctp /bin/false\n", a="blacklist sctp\n").word == "pass"
    assert judge("install sctp /bin/false\nblacklist sctp\n", z="install sctp /bin/x\n").word == "fail"
    assert judge("install sctp /bin/false\nblacklist sctp\n", path="/etc/modprobe.d/sctp.conf.bak").word == "fail"
