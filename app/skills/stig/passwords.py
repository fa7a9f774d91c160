"""Rules on passwords: none empty, none short, and an account that locks when they are guessed."""

from app.skills.skill import Rule
from app.skills.stig.checks.passwords import (
    FAILLOCK,
    PAM_FILES,
    PWQUALITY,
    PWQUALITY_FOLDER,
    locks_root,
    password_length,
    stays_locked,
    tries,
)
from app.skills.stig.checks.privilege import no_empty_passwords

_LOCKOUT = (FAILLOCK, *PAM_FILES)

RULES = (
    Rule(
        id="V-258094",
        stig_id="RHEL-09-611025",
        category="I",
        title="PAM takes no empty password",
        requirement="No line of system-auth or password-auth may carry the argument nullok.",
        fix="Take the word nullok off each line and leave the rest as it is: the order of the stack decides.",
        paths=PAM_FILES,
        check=no_empty_passwords("V-258094"),
        breaks="A slip in these two files shuts everybody out, root included.",
    ),
    Rule(
        id="V-258054",
        stig_id="RHEL-09-411075",
        category="II",
        title="Three wrong passwords lock an account",
        requirement="deny in faillock.conf has to be 3 or less, and not 0, which would switch the lock off.",
        fix="Set deny to 3 in faillock.conf; an argument deny= on a pam_faillock line would override it.",
        paths=_LOCKOUT,
        check=tries("V-258054", 3),
        breaks="A service that retries an old password locks its account.",
    ),
    Rule(
        id="V-258055",
        stig_id="RHEL-09-411080",
        category="II",
        title="Wrong passwords lock root as well",
        requirement="faillock.conf has to carry the line even_deny_root.",
        fix="Add the line even_deny_root to faillock.conf. It takes no value.",
        paths=_LOCKOUT,
        check=locks_root("V-258055"),
        depends=("V-258054",),
        irreversible=True,
        breaks="Anybody who can reach a login prompt can lock root; undoing the setting does not unlock it.",
    ),
    Rule(
        id="V-258057",
        stig_id="RHEL-09-411090",
        category="II",
        title="A locked account stays locked until an administrator opens it",
        requirement="unlock_time in faillock.conf has to be 0.",
        fix="Set unlock_time to 0 in faillock.conf.",
        paths=_LOCKOUT,
        check=stays_locked("V-258057"),
        depends=("V-258054",),
        irreversible=True,
        breaks="An account that is locked stays so for good; undoing the setting does not unlock it.",
    ),
    Rule(
        id="V-258107",
        stig_id="RHEL-09-611090",
        category="II",
        title="A new password has fifteen characters or more",
        requirement="minlen has to be 15 or more in pwquality.conf, and no drop-in beside it may ask for less.",
        fix="Set minlen to 15 in pwquality.conf and in every file of pwquality.conf.d that names it.",
        paths=(PWQUALITY, PWQUALITY_FOLDER, *PAM_FILES),
        check=password_length("V-258107", 15),
    ),
)
