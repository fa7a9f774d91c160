"""Honest lines of files whose names or formats use the words of secrets: quoted from anywhere, they stay whole."""

import itertools

import pytest

from app.text.redaction import GONE, redact_secrets

WORDS = ("password", "passwd", "secret", "common-password", "50-no-password", "token", "x-passphrase")
PAM = [
    *(
        f"{kind} {control} {module}"
        for kind, control, module in itertools.product(
            ("auth", "-auth", "account", "password", "-password", "session"),
            ("required", "requisite", "sufficient", "optional", "[success=1 default=ignore]",
             "[success=ok new_authtok_reqd=ok ignore=ignore default=bad]", "[authtok_err=die default=2]"),
            ("pam_unix.so sha512 shadow use_authtok", "pam_pwquality.so retry=3", "pam_pwhistory.so use_authtok",
             "/lib/security/pam_faillock.so preauth"),
        )
    ),
    *(f"{kind} {how} {stack}" for kind in ("auth", "password") for how in ("include", "substack")
      for stack in ("system-auth", "password-auth", "postlogin", "common-password")),
    "@include common-password", "@include common-auth",
]  # fmt: skip
PIECES = [
    "[success=1 default=ignore] pam_unix.so",
    "requisite pam_pwquality.so retry=3",
    "pam_unix.so obscure yescrypt",
]
"""What is left of such a line where the kind was cut off."""
LINES = {
    "/etc/pam.d": PAM + PIECES,
    "/usr/share/pam-configs": ["Password-Type: Primary", "Default: yes", "Auth-Initial: [success=end] pam_unix.so"],
    "/etc/sudoers.d": [
        "temper ALL=(ALL) NOPASSWD: ALL", "%wheel ALL=(ALL:ALL) NOPASSWD:SETENV: /usr/bin/passwd, PASSWD: /bin/su",
        "Defaults !targetpw", "Defaults !rootpw", "Defaults passwd_tries=3, !runaspw", "Defaults timestamp_timeout=0",
    ],
    "/etc/ssh/sshd_config.d": [
        "PasswordAuthentication no", "PermitEmptyPasswords no", "PermitRootLogin prohibit-password", "Match User git",
        "AuthenticationMethods publickey,password", "KbdInteractiveAuthentication no",
    ],
    "/etc/audit/rules.d": ["-w /etc/passwd -p wa -k passwd_changes", "-a always,exit -F path=/usr/bin/passwd -k x"],
    "/etc/security/pwquality.conf.d": ["minlen = 14", "dictcheck = 1", "enforce_for_root"],
    "/etc/sysctl.d": ["kernel.kptr_restrict = 1", "-net.ipv4.ip_forward=0"],
    "/etc/modprobe.d": ["install usb-storage /bin/false", "blacklist cramfs"],
    "/etc/dconf/db/local.d/locks": ["[org/gnome/desktop]", "/org/gnome/desktop/lockdown/x"],
    "/etc/systemd/system/x.service.d": ["[Service]", "ProtectSystem=strict"],
    "/etc/logrotate.d": ["/var/log/passwd {", "rotate 4"],
    "/etc/default": ["GRUB_TIMEOUT=5", "# a comment"],
}  # fmt: skip
QUOTES = ("{file}: {line}", "{file}:{line}", "{file}:12:{line}", "{file}:12: {line}", "{file} line 3: {line}",
          "- {file}: {line}", "+{file}: {line}", "read {file}: {line}", "    {file}: {line}")  # fmt: skip


@pytest.mark.parametrize("folder", LINES)
def test_a_line_quoted_behind_the_name_of_its_file_stays_whole(folder):
    files = [f"{folder}/{word}{end}" for word in WORDS for end in ("", ".conf")]
    told = [quote.format(file=file, line=line) for file, quote, line in itertools.product(files, QUOTES, LINES[folder])]
    assert [line for line in told if redact_secrets(line) != line] == []
    assert redact_secrets("\n".join(told)) == "\n".join(told)


@pytest.mark.parametrize("place", ["{}", "+{}", "-{}", "   {}", "password: {}", "common-password: {}", '"{}"'])
def test_a_line_of_pam_stays_whole_wherever_it_stands(place):
    told = [
        place.format(line) for line in PAM + PIECES[:1] + PIECES[2:] if not place.endswith(": {}") or "@" not in line
    ]
    assert [line for line in told if redact_secrets(line, from_restricted_file=True) != line] == []


@pytest.mark.parametrize(
    "line",
    [
        "passwd: password updated successfully",
        "passwd: password expiry information changed.",
        "passwd: Authentication token manipulation error",
        "passwd: all authentication tokens updated successfully.",
        "/etc/passwd: root:x:0:0:root:/root:/bin/bash",
        "/etc/passwd:3:daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin",
        "/etc/passwd: mode 0644, owner root",
        "password guessing attacks.",
        "SMTP_AUTH=login",
        "smtp_auth = yes",
        "proxy_auth: basic",
        "community strings",
        "set snmp community public",
        "set community 65000:100",
        "The community project is where it is developed.",
        "psql --no-password mydb",
        "openssl passwd -6",
        "openssl passwd -6 -stdin < /root/x",
        "echo 'kernel.kptr_restrict = 1' | tee /etc/sysctl.d/password.conf",
        "net use z: /delete",
        "rabbitmqctl list_users",
        "mosquitto_sub -h host -t topic",
        "az login --identity",
        "twine upload dist/x.whl",
        "ipa-client-install --unattended",
        "gpg --batch --verify x.asc",
        "nmcli connection modify x wifi-sec.key-mgmt wpa-psk",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_secret_stays(line):
    for told in (line, f"+{line}", f"secure: {line}"):
        assert redact_secrets(told) == told


@pytest.mark.parametrize(
    "line",
    [
        "/etc/pam.d/common-password: password = hunter2x",
        "/etc/pam.d/x: auth required pam_ldap.so bindpw=hunter2x",
        "/etc/default/passwd: DB_PASS=hunter2x",
        "/etc/systemd/system/x.service.d/password: Environment=API_TOKEN=hunter2x",
        "/etc/app.d/password: hunter2x",
        "/etc/passwd:bob:hunter2xJ9m.w:1000:1000::/home/bob:/bin/sh",
        "common-password: hunter2x",
        "password: [hunter2x",
        "passwd: hunter2x is it",
        "smtp_auth = me:hunter2x",
    ],
)  # fmt: skip
def test_a_secret_behind_such_a_name_is_still_taken_out(line):
    told = redact_secrets(line)
    assert "hunter2x" not in told
    assert GONE in told
