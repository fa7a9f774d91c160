"""All programs whose settings are compared before and after a change."""

from app.targets.effects.audit_rules import AuditRules
from app.targets.effects.auditd import Auditd
from app.targets.effects.crypto_policies import CryptoPolicies
from app.targets.effects.daemon import Daemons
from app.targets.effects.dnf import Dnf
from app.targets.effects.faillock import Faillock
from app.targets.effects.limits import Limits
from app.targets.effects.login_defs import LoginDefs
from app.targets.effects.modprobe import Modprobe
from app.targets.effects.pam import Pam
from app.targets.effects.profile import ShellProfile
from app.targets.effects.pwquality import Pwquality
from app.targets.effects.selinux import Selinux
from app.targets.effects.sshd import Sshd
from app.targets.effects.sudo import Sudo
from app.targets.effects.sysctl import ProcpsSysctl, SystemdSysctl

DAEMONS: Daemons = (
    Sshd(),
    CryptoPolicies(),
    Sudo(),
    Pam(),
    SystemdSysctl(),
    ProcpsSysctl(),
    Modprobe(),
    Auditd(),
    AuditRules(),
    LoginDefs(),
    Pwquality(),
    Faillock(),
    Limits(),
    ShellProfile(),
    Selinux(),
    Dnf(),
)
