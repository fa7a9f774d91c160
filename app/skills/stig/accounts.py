"""Rules on accounts and their logins: age, umask, idle time, number, and who may read the hashes."""

from app.skills.skill import Rule
from app.skills.stig.checks.login import SCRIPTS, SHADOW, STARTS, TMOUT, hashes_closed, idle_timeout, login_limit
from app.skills.stig.checks.options import LOGIN_DEFS, password_age, umask
from app.syntax import limits

RULES = (
    Rule(
        id="V-258041",
        stig_id="RHEL-09-411010",
        category="II",
        title="Passwords of new accounts expire after sixty days",
        requirement="PASS_MAX_DAYS in login.defs has to be 60 or less.",
        fix="Set PASS_MAX_DAYS to 60 in login.defs. It holds for accounts that are made from then on.",
        paths=(LOGIN_DEFS,),
        check=password_age("V-258041", 60),
        breaks="The password of a service account made later expires without anybody there to change it.",
    ),
    Rule(
        id="V-258074",
        stig_id="RHEL-09-412065",
        category="II",
        title="New files are for their owner alone",
        requirement="UMASK in login.defs has to be 077.",
        fix="Set UMASK to 077 in login.defs. Give programs that share files a umask of their own first.",
        paths=(LOGIN_DEFS,),
        check=umask("V-258074", "077"),
        breaks="A service can no longer read what another account puts into a shared folder from then on.",
    ),
    Rule(
        id="V-258068",
        stig_id="RHEL-09-412035",
        category="II",
        title="An idle shell ends after ten minutes",
        requirement="A script in /etc/profile.d has to set TMOUT to 600 seconds or less for every login shell.",
        fix="Write TMOUT=600 to /etc/profile.d/tmout.sh, under no condition, and let no other script set or unset it.",
        paths=(TMOUT, SCRIPTS, *STARTS),
        check=idle_timeout("V-258068", 600),
        breaks="A shell that waits for a long job in the foreground of somebody away ends.",
    ),
    Rule(
        id="V-258069",
        stig_id="RHEL-09-412040",
        category="III",
        title="Ten logins at a time for one account",
        requirement="limits.conf or limits.d has to hold every account to 10 logins or fewer with a hard limit.",
        fix="Set the option `hard maxlogins` to 10 in limits.conf; a row for a single account may not allow more.",
        paths=(limits.MAIN, limits.FOLDER),
        check=login_limit("V-258069", 10),
        breaks="An account that many jobs share runs out of logins.",
    ),
    Rule(
        id="V-257934",
        stig_id="RHEL-09-232270",
        category="II",
        title="Nobody but root reads the password hashes",
        requirement="/etc/shadow has to have mode 0000.",
        fix="Give /etc/shadow mode 0000; root reads it all the same.",
        paths=(SHADOW,),
        check=hashes_closed("V-257934"),
    ),
)
