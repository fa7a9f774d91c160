"""Rules on what the host installs and loads."""

from app.skills.skill import Rule
from app.skills.stig.checks.modules import disabled
from app.skills.stig.checks.options import DNF, signatures
from app.syntax import modprobe

RULES = (
    Rule(
        id="V-257820",
        stig_id="RHEL-09-214015",
        category="I",
        title="Packages are checked for their signature",
        requirement="gpgcheck in the section [main] of dnf.conf has to be 1.",
        fix="Set gpgcheck to 1 in dnf.conf.",
        paths=(DNF,),
        check=signatures("V-257820"),
        breaks="Packages of an internal repository that nobody signs no longer install.",
    ),
    Rule(
        id="V-257807",
        stig_id="RHEL-09-213060",
        category="II",
        title="The kernel does not load SCTP",
        requirement="modprobe.d has to carry `install sctp /bin/false` and `blacklist sctp`.",
        fix="Write both lines to /etc/modprobe.d/sctp.conf.",
        paths=("/etc/modprobe.d/sctp.conf", modprobe.FOLDER),
        check=disabled("V-257807", "sctp"),
        breaks="Telephony and cluster software that speaks SCTP cannot connect.",
    ),
)
