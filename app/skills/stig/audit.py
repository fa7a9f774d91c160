"""Rules on the audit system: it halts the host sooner than it loses a record, and cannot be switched off."""

from app.skills.skill import Rule
from app.skills.stig.checks.audit import RULES as LOADED
from app.skills.stig.checks.audit import SOURCES, locks, panics
from app.skills.stig.checks.options import AUDITD, disk_full

RULES = (
    Rule(
        id="V-258154",
        stig_id="RHEL-09-653025",
        category="II",
        title="A full audit disk stops the host",
        requirement="disk_full_action in auditd.conf has to be HALT, or SINGLE for single-user mode.",
        fix="Set disk_full_action to HALT in auditd.conf, with a space on each side of the equals sign.",
        paths=(AUDITD,),
        check=disk_full("V-258154"),
        breaks="The host halts when the audit disk is full.",
    ),
    Rule(
        id="V-258227",
        stig_id="RHEL-09-654265",
        category="II",
        title="A failing audit system stops the kernel",
        requirement="audit.rules has to carry -f 2.",
        fix="Set -f to 2 in audit.rules and in the file of rules.d that names it, from which audit.rules is joined.",
        paths=(LOADED, SOURCES),
        check=panics("V-258227"),
        breaks="A failure of the audit system panics the kernel.",
    ),
    Rule(
        id="V-258229",
        stig_id="RHEL-09-654275",
        category="II",
        title="Audit rules are locked until a reboot",
        requirement="The last line of audit.rules has to be -e 2.",
        fix="Put -e 2 at the end of audit.rules, and of the last file of rules.d so that it stays there.",
        paths=(LOADED, SOURCES),
        check=locks("V-258229"),
        depends=("V-258227", "V-258154"),
        irreversible=True,
        breaks="No audit rule can be changed without a reboot, not even to undo this one.",
    ),
)
