"""The literal lines and commands of DISA's fix texts, as typed actions."""

import pytest

from app.candidates.prose_lines import find_stated_actions
from app.candidates.scratch_files import Undecidable
from app.events.vocabulary import AppendLine, Chmod, SetOption
from app.resources.package import InstallPackage
from app.resources.unit import SetUnit
from tests.hostfiles import DictFiles

HOST = DictFiles({"/etc/ssh/sshd_config": "UsePAM no\n", "/etc/modprobe.d/b.conf": "install bluetooth /bin/false\n"})


CASES = {
    """Add or update the line in "/etc/ssh/sshd_config":

PermitRootLogin no

Restart the daemon:

$ sudo systemctl restart sshd.service""": SetOption(path="/etc/ssh/sshd_config", key="PermitRootLogin", value="no"),
    """Add the following rule in "/etc/audit/rules.d/audit.rules":

-w /etc/sudoers -p wa -k identity

To load the rules, use the following command:

$ sudo augenrules --load""": AppendLine(
        path="/etc/audit/rules.d/audit.rules", line="-w /etc/sudoers -p wa -k identity"
    ),
    """$ sudo vi /etc/sysctl.d/99-x.conf

Add the following to the file:
kernel.kptr_restrict = 1

Reload settings with the following command:

$ sudo sysctl --system""": SetOption(path="/etc/sysctl.d/99-x.conf", key="kernel.kptr_restrict", value="1"),
    """Modify the "/etc/modprobe.d/b.conf" file with the following lines:

install bluetooth /bin/false
blacklist bluetooth

Reboot the system.""": AppendLine(path="/etc/modprobe.d/b.conf", line="blacklist bluetooth"),
    "Change the mode:\n\n$ sudo chmod 000 /etc/gshadow": Chmod(path="/etc/gshadow", mode="0000"),
    "Install it:\n\n$ sudo dnf -y install audit": InstallPackage(package="audit"),
    "Mask it:\n\n$ sudo systemctl mask --now debug-shell": SetUnit(unit="debug-shell.service", to="mask"),
}


@pytest.mark.parametrize(("fix", "action"), CASES.items())
def test_each_step_is_found(fix, action):
    assert find_stated_actions(fix, HOST) == (action,)


@pytest.mark.parametrize(
    "fix",
    [
        'Migrate the "/var/log" path onto a separate file system.',
        "Run this:\n\n$ sudo rm -rf /etc/ssh",
        "$ sudo dnf install $(id)",
        "Add this line somewhere:\n\nPermitRootLogin no",
        "",
    ],
)
def test_prose_without_a_literal_step_says_so(fix):
    with pytest.raises(Undecidable, match="no line and no command"):
        find_stated_actions(fix, HOST)
