"""A change of a declarative file is accepted if each difference is a setting that the rule's text states."""

import pytest

from app.candidates.fix_text_parser import require_stated_actions
from app.events.event_field_types import AppendLine, ReplaceLine, WriteFile
from app.skills.stated_settings import find_stated_settings_joined_with_values
from app.targets.planned_file_states import compute_changed_file_states
from tests.targets.test_hostile import laid_out
from tests.targets.test_policy import paths_of

GRUB = 'GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX="root=/dev/vda audit=0 quiet"\n'
STORIES = {
    "dconf": """Add these lines to "/etc/dconf/db/local.d/00-site":

[org/gnome/desktop/session]
# Ten minutes
idle-delay=uint32 600

Then update the databases.""",
    "dconf section in the sentence": """$ sudo vi /etc/dconf/db/local.d/00-site

Edit the "[org/gnome/desktop/screensaver]" section and add the following line:

lock-enabled=true""",
    "dconf locks": """$ sudo touch /etc/dconf/db/local.d/locks/site

Add the following line:

/org/gnome/desktop/screensaver/lock-enabled""",
    "a long text of a greeter": f"""Add the following lines to "/etc/dconf/db/local.d/01-site":

[org/gnome/login-screen]
banner-message-text='{"Authorised use only. " * 60}'""",
    "gdm": """Set it in the [daemon] section of /etc/gdm/custom.conf:

AutomaticLoginEnable=false""",
    "sssd": """Edit a file in "/etc/sssd/conf.d" and add the following line just below the line [pam]:

offline_credentials_expiration = 1""",
    "sssd without a section": """Add this line to "/etc/sssd/conf.d/site.conf":

certificate_verification = ocsp_dgst=sha512""",
    "chrony": "Add the following line to /etc/chrony.conf:\n\nport 0",
    "aliases": 'Append the following line to "/etc/aliases":\n\npostmaster: root',
    "postfix": "Add to /etc/postfix/main.cf:\n\nsmtpd_client_restrictions = permit_mynetworks,reject",
    "coredump": "Add or modify the following line in /etc/systemd/coredump.conf:\n\nStorage=none",
    "logind": """Create a file in /etc/systemd/logind.conf.d/ with the following content:

[Login]
StopIdleSessionSec=600""",
    "journald": "Add this to /etc/systemd/journald.conf:\n\nStorage=persistent",
    "system": "Add this to /etc/systemd/system.conf.d/55-site.conf:\n\nCtrlAltDelBurstAction=none",
    "grub": 'Add or change this line in "/etc/default/grub":\n\nGRUB_CMDLINE_LINUX="audit=1 pti=on"',
    "rsyslog": 'Add this to a file in "/etc/rsyslog.d":\n\nauth.*;authpriv.*;daemon.* /var/log/secure',
    "rsyslog by TLS": 'Set this option in "/etc/rsyslog.d/site.conf":\n\n$DefaultNetstreamDriver gtls',
    "libuser": 'Change this in the "[defaults]" section of "/etc/libuser.conf":\n\ncrypt_style = sha512',
    "firewalld": "Edit this line in /etc/firewalld/firewalld.conf:\n\nFirewallBackend=nftables",
    "usbguard": "Set this in /etc/usbguard/usbguard-daemon.conf:\n\nAuditBackend=LinuxAudit",
    "pwhistory": "Set this in /etc/security/pwhistory.conf:\n\nremember = 5",
    "libreswan": 'Add to "/etc/ipsec.conf":\n\ninclude /etc/crypto-policies/back-ends/libreswan.config',
    "aide": 'Add these lines to "/etc/aide.conf":\n\n/usr/sbin/auditctl p+i+n+u+g+s+b+acl+xattrs+sha512',
    "useradd": 'Set this in "/etc/default/useradd":\n\nINACTIVE=35',
    "umask of bash": 'Edit the "umask" in "/etc/bashrc" to this line:\n\numask 077',
    "umask of csh": 'Edit the "umask" in "/etc/csh.cshrc" to this line:\n\numask 027',
}


AIDE = "@@define DBDIR /var/lib/aide\n/etc CONTENT\n/usr/sbin/auditctl p\n!/etc/mtab$\n"


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    return laid_out(tmp_path_factory.mktemp("host"), {"/etc/default/grub": GRUB, "/etc/aide.conf": AIDE})


@pytest.mark.parametrize("text", STORIES.values(), ids=STORIES)
def test_what_a_rule_states_is_written_and_accepted(host, text):
    actions = require_stated_actions(text, host.files)
    assert (
        host.assess_actions(actions, paths_of(*actions), find_stated_settings_joined_with_values(text)).refusals == ()
    )
    refused = host.assess_actions(actions, paths_of(*actions)).refusals
    assert {one.clause for one in refused} == {"outside the rule"}


def test_kernel_arguments_are_added_and_changed_and_all_others_stay(host):
    (action,) = require_stated_actions(STORIES["grub"], host.files)
    assert action == ReplaceLine(
        path="/etc/default/grub",
        old='GRUB_CMDLINE_LINUX="root=/dev/vda audit=0 quiet"',
        new='GRUB_CMDLINE_LINUX="root=/dev/vda audit=1 quiet pti=on"',
    )


def test_a_line_of_aide_is_replaced_and_no_file_is_made_that_aide_does_not_read(host, tmp_path):
    actions = require_stated_actions(STORIES["aide"], host.files)
    changed = compute_changed_file_states(actions, host.files)["/etc/aide.conf"].content.decode()
    assert changed == AIDE.replace("auditctl p", "auditctl p+i+n+u+g+s+b+acl+xattrs+sha512")
    other = laid_out(tmp_path, {})
    actions = require_stated_actions(STORIES["aide"], other.files)
    (refused,) = other.assess_actions(
        actions, paths_of(*actions), find_stated_settings_joined_with_values(STORIES["aide"])
    ).refusals
    assert "/etc/aide.conf is not there" in refused.reason


def test_a_new_file_of_sssd_is_for_root_alone(host):
    (action,) = require_stated_actions(STORIES["sssd"], host.files)
    content = "[pam]\noffline_credentials_expiration = 1\n"
    assert action == WriteFile(path="/etc/sssd/conf.d/99-temper.conf", content=content, mode="0600")


@pytest.mark.parametrize(
    ("path", "was", "other", "stated"),
    [
        ("/etc/csh.cshrc", "umask 077", "umask 022", "csh umask 027"),
        ("/etc/rsyslog.conf", "$ModLoad imtcp", "$ModLoad imuxsock", "rsyslog $ActionSendStreamDriverMode 1"),
        ("/etc/rsyslog.conf", "*.* @@logs.site.example", "*.* /var/log/all", "rsyslog $DefaultNetstreamDriver gtls"),
    ],
)
def test_a_stated_value_may_not_loosen_or_end_what_stands(tmp_path, path, was, other, stated):
    action = AppendLine(path=path, line=stated.partition(" ")[2])
    refused = [
        len(host.assess_actions([action], paths_of(action), frozenset({stated})).refusals)
        for host in (laid_out(tmp_path / name, {path: f"{text}\n"}) for name, text in (("was", was), ("other", other)))
    ]
    assert refused == [1, 0]


def test_a_stated_value_may_not_make_an_earlier_one_count(tmp_path):
    """Of the lines `off` and `unicast` the last one counts; behind the stated `all` it would be `off`."""
    path = "/etc/firewalld/firewalld.conf"
    host = laid_out(tmp_path, {path: "LogDenied=off\nLogDenied=unicast\n"})

    def list_clauses(text):
        change = WriteFile(path=path, content=text)
        refusals = host.assess_actions([change], paths_of(change), frozenset({"firewalld LogDenied all"})).refusals
        return [refusal.clause for refusal in refusals]

    assert list_clauses("LogDenied=all\nLogDenied=off\n") == ["network"]
    assert list_clauses("LogDenied=all\nLogDenied=all\n") == []


def test_other_lines_of_a_login_script_are_left_to_their_own_judge(tmp_path):
    path = "/etc/profile.d/site.sh"
    host = laid_out(tmp_path, {path: "TMOUT=900\numask 027\n"})
    change = ReplaceLine(path=path, old="TMOUT=900", new="TMOUT=600")
    assert host.assess_actions([change], paths_of(change)).refusals == ()
    change = ReplaceLine(path=path, old="umask 027", new="TMOUT=600")
    assert [one.clause for one in host.assess_actions([change], paths_of(change)).refusals] == ["weakening"]

    change = ReplaceLine(path=path, old="umask 027", new="umask ")
    assert host.assess_actions([change], paths_of(change)).refusals


IF_UNSET = "[ `umask` -eq 0 ] && umask 022"


def test_each_umask_of_a_script_gets_the_number_that_the_rule_states(tmp_path):
    text = f"# umask 022 is what users expect\nif [ $UID -gt 199 ]; then\n    umask 002\nelse\n    {IF_UNSET}\nfi\n"
    host = laid_out(tmp_path, {"/etc/bashrc": text})
    stated = STORIES["umask of bash"]
    actions = require_stated_actions(stated, host.files)
    assert [one.new for one in actions] == ["    umask 077", f"    {IF_UNSET.replace('022', '077')}"]
    assert (
        host.assess_actions(actions, paths_of(*actions), find_stated_settings_joined_with_values(stated)).refusals == ()
    )


@pytest.mark.parametrize("umask", ["umask 002", "umask 777", "umask 022 && id", "umask 070"])
def test_a_umask_within_a_condition_may_only_become_stricter(tmp_path, umask):
    host = laid_out(tmp_path, {"/etc/bashrc": f"if true; then\n{IF_UNSET}\nfi\n"})
    change = ReplaceLine(path="/etc/bashrc", old=IF_UNSET, new=IF_UNSET.replace("umask 022", umask))
    assert host.assess_actions([change], paths_of(change), frozenset({"umask umask 077"})).refusals


@pytest.mark.parametrize(("was", "refused"), [("-1", False), ("60", False), ("14", True)])
def test_days_until_an_account_closes_become_fewer_and_no_limit_is_the_most(tmp_path, was, refused):
    host = laid_out(tmp_path, {"/etc/default/useradd": f"INACTIVE={was}\n"})
    change = ReplaceLine(path="/etc/default/useradd", old=f"INACTIVE={was}", new="INACTIVE=35")
    assessed = host.assess_actions([change], paths_of(change), frozenset({"useradd INACTIVE 35"}))
    assert bool(assessed.refusals) is refused
