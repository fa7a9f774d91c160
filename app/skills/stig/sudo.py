"""Rules on sudo: whoever uses it gives a password."""

from app.skills.skill import Rule
from app.skills.stig.checks.privilege import no_passwordless_sudo, sudo_authenticates

_SUDOERS = ("/etc/sudoers", "/etc/sudoers.d/*")

RULES = (
    Rule(
        id="V-258106",
        stig_id="RHEL-09-611085",
        category="II",
        title="sudo asks everybody for a password",
        requirement="No grant in sudoers or a file that it includes may carry NOPASSWD.",
        fix="Take the tag NOPASSWD off every grant, wherever it stands.",
        paths=_SUDOERS,
        check=no_passwordless_sudo("V-258106"),
        breaks="Accounts without a password lose sudo, the hardening agent's own among them.",
    ),
    Rule(
        id="V-258086",
        stig_id="RHEL-09-432025",
        category="II",
        title="sudo authenticates whoever uses it",
        requirement="No Defaults line in sudoers or a file that it includes may carry !authenticate, for anybody.",
        fix="Remove !authenticate; where the line says more than that, keep the rest.",
        paths=_SUDOERS,
        check=sudo_authenticates("V-258086"),
        breaks="People and jobs that used sudo without a password are asked for one.",
    ),
)
