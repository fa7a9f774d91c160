import random
from contextlib import suppress
from pathlib import Path
from string import ascii_letters, ascii_lowercase, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.events.secrets import GONE, keeps_secrets, redacted
from app.targets import fixture
from app.targets.areas import JUDGES

FIXTURE = Path(fixture.__file__).parent / "tree"

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nCANARY\nCANARY\n-----END OPENSSH PRIVATE KEY-----"
CRYPT = ["$6$salt$CANARY/x.y", "$y$j9T$CANARY$CANARY", "$2b$12$CANARY", "$1$a$CANARY", "$5$rounds=5000$CANARY$CANARY"]


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        f"before\n{KEY}\nafter",
        KEY[:-40],
        "-" + KEY.replace("\n", "\n-"),
        "root:CANARYxxxxxx:20301:0:99999:7:::",
        "+root:!CANARYxxxxxx:20301:0:99999:7:::",
        "proxy_password = CANARY",
        "-password=CANARY and CANARY",
        "  api_key\t= CANARY",
        "baseurl=https://mirror:CANARY@repo.example/os",
        *CRYPT,
        *(f"root:{one}:20301:0:99999:7:::" for one in CRYPT),
        *(f"it was {one}, and {one}" for one in CRYPT),
    ],
)
def test_a_secret_is_taken_out(text):
    assert "CANARY" not in redacted(text)
    assert GONE in redacted(text)


@pytest.mark.parametrize("text", [KEY, *CRYPT, f"root:{CRYPT[0]}:20301:0:99999:7:::", "password = CANARY"])
def test_wherever_it_is_cut_off(text):
    """A prompt's limit may fall anywhere."""
    for end in range(len(text)):
        assert "CANARY" not in redacted(text[:end] + "…")


@pytest.mark.parametrize(
    "text",
    [
        "root:x:0:0:root:/root:/bin/bash",
        "wheel:x:10:opsadmin",
        "mission:!!:20142::::::",
        "bin:*:19760:0:99999:7:::",
        "temper ALL=(ALL) NOPASSWD: ALL",
        "PermitEmptyPasswords no",
        "PasswordAuthentication yes",
        "password    requisite     pam_pwquality.so local_users_only",
        "Defaults:ops passwd_tries=3",
        "export PS1='$ '; echo $1 $2",
        "# a token = something",
        "https://repo.example/os/$basearch:8080/@x",
    ],
)
def test_what_is_no_secret_stays_as_it_is(text):
    assert redacted(text) == text


FORMS = {
    "wireguard": "[Peer]\nPublicKey = abc\nPresharedKey = {}\nPrivateKey={}",
    "pgpass": "db.example:5432:app:me:{}\n*:*:*:me:{}",
    "chap-secrets": '# client server secret IP\nalice * {} *\n"bob" * "{}" *\ncarol pptpd {} *\ndave l2tpd "{}" 10.0.0.9\neve * {}',
    "kubeconfig": "users:\n- name: admin\n  user:\n    client-key-data: {}\n    token: {}\n    password: {}",
    "netrc": "machine api.example login me password {}\nmachine b.example\n  login me\n  password {}\ndefault password {}",
    "aws": "[default]\naws_secret_access_key = {}\naws_session_token={}",
    "pem": "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n{}\n{}\n-----END RSA PRIVATE KEY-----",
    "openssh": "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----",
    "pgp": "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
    "snmp": "rocommunity {}\nrwcommunity6 {} 10.0.0.0/8\ncom2sec ops default {}\ncreateUser ops SHA {} AES {}\ntrapcommunity {}\ntrap2sink h.example {}",
    "wpa_supplicant": 'network={{\n\tssid="office"\n\tpsk="{}"\n\t#psk="{}"\n\twep_key0="{}"\n\tpassword="{}"\n}}',
    "ldap": "binddn cn=x\nbindpw {}\nrootbindpw {}\nuserPassword: {}\nuserPassword:: {}",
    "sssd": "[domain/x]\nldap_default_authtok = {}",
    "htpasswd": "alice:$apr1$salt${}\nbob:{{SHA}}{}=\ncarol:$2y$10${}\ndave:{{SSHA}}{}==",
    "docker": '{{"auths": {{"r.example": {{"auth": "{}", "identitytoken": "{}"}}}}}}',
    "mysql": '[client]\nuser=root\npassword={}\n[mysqldump]\npassword = "{}#x"',
    "shadow": "root:$6$salt${}:20301:0:99999:7:::\nold:!{}:20301:0:99999:7:::",
    "grub": "password_pbkdf2 root grub.pbkdf2.sha512.10000.{}.{}\npassword root {}",
    "samba": "username=x\npassword={}\n   passdb secret = {}",
    "networkmanager": "[wifi-security]\nkey-mgmt=wpa-psk\npsk={}\nwep-key0={}\n[802-1x]\nprivate-key-password={}",
    "tokens": "ghp_{}0000\nxoxb-{}\nxoxp-1-{}\ngithub_pat_{}\nglpat-{}\neyJhbGciOi.eyJz{}.x\nsk-0123456789abc{}",
    "addresses": "https://me:{}@repo.example/x\npostgres://u:{}@db/x?y=1\nredis://:{}@cache:6379\nftp://u:a@{}@h/",
    "headers": "Authorization: Bearer {}\nauthorization: basic {}\nProxy-Authorization: Digest {}\nX-Api-Key: {}\nX-Vault-Token: {}\nCookie: sid={}",
    "environment": "export VAULT_TOKEN={}\nMYSQL_PWD={}\nDB_PASSWORD='{}'\nset api_key = {}\nGITHUB_TOKEN={}",
    "command lines": "mysql -u root -p{} db\nsshpass -p {} ssh h\ncurl -u me:{} h\nx --password {} y\nx --password={} y\nx --db-password {}",
    "audited": 'type=EXECVE argc=4 a0="x" a1="--password" a2="{}"',
    "json": '{{"password": "{}", "user": "x", "api_key":"a\\"{}", "client_secret" : "{}"}}',
    "yaml": "password: {}\n- secret: '{}'\n  apiKey: \"{}\"\n  passphrase: {}",
    "xml": "<password>{}</password><clientSecret>{}</clientSecret>",
    "ipsec": ': PSK "{}"\n10.0.0.1 : XAUTH "{}"\n',
    "bind": 'key "x" {{\n  algorithm hmac-sha256;\n  secret "{}";\n}};',
    "chrony": "1 SHA256 {}\n20 MD5 {}",
    "age": "AGE-SECRET-KEY-1QQQQ{}",
}
"""A form to lines of it; what stands at each pair of braces is secret."""
PLACES = {
    "as it stands": "{}",
    "added": "+{}",
    "removed": "-{}",
    "kept": " {}",
    "indented": "   {}",
    "behind a file's end": "one = 1\n\n{}\ntwo = 2\n",
}


def upper(form, words):
    """AGE's keys are in capitals."""
    return [word.upper() for word in words] if form == "age" else words


def passwords(seed):
    """As people make them up: nothing in them tells that they are any but where they stand."""
    draw = random.Random(seed)
    return [f"{''.join(draw.choices(ascii_lowercase, k=draw.randint(2, 6)))}canary{draw.randint(0, 9999)}" for _ in range(8)]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", FORMS)
def test_no_canary_of_any_form_comes_through(form, place):
    before, after = PLACES[place].split("{}")
    ahead, prefix = before.rpartition("\n")[0], before.rpartition("\n")[2]
    for seed in range(10):
        words = upper(form, passwords(seed))
        lines = [f"{prefix}{line}" for line in FORMS[form].format(*words).split("\n")]
        told = redacted(ahead + "\n" * bool(ahead) + "\n".join(lines) + after)
        assert [word for word in words if word in told] == [], told


@pytest.mark.parametrize("form", sorted(FORMS.keys() - {"grub", "pem", "openssh", "pgp", "netrc", "bind"}))
def test_no_line_of_any_form_comes_through_alone_as_evidence_quotes_it(form):
    words = upper(form, [f"abcanary{number}xy" for number in range(8)])
    for line in FORMS[form].format(*words).split("\n"):
        for quoted in (f"/etc/x line 3 says '{line}'", f"secure: {line}", f'"{line}"'):
            if "'" in line or '"' in line:
                continue
            assert [word for word in words if word in redacted(quoted)] == [], quoted


@pytest.mark.parametrize(("length", "closed"), [(24, False), (32, False), (44, False), (64, False), (16, True)])
def test_a_random_word_of_no_known_form_is_taken_out(length, closed):
    draw = random.Random(length)
    words = ["".join(draw.choice(ascii_letters + digits) for _ in range(length)) for _ in range(300)]
    left = [word for word in words if word in redacted(f"seed {word} end", closed=closed)]
    assert len(left) <= 300 * (0.15 if length < 20 else 0.05)
    assert "aB3" not in redacted("the seed is 0f3a9b7c55e84d21a6d7c0b1e2f39485 here")


@given(st.text())
def test_twice_is_as_good_as_once(text):
    assert redacted(redacted(text)) == redacted(text)


@pytest.mark.parametrize(
    ("path", "secret"),
    [
        ("/etc/shadow", True),
        ("/etc/shadow-", True),
        ("/etc/gshadow", True),
        ("/etc/security/opasswd", True),
        ("/etc/ssh/ssh_host_ed25519_key", True),
        ("/root/.ssh/id_ed25519", True),
        ("/root/.ssh/backup\nauthorized_keys", True),
        ("/etc/pki/tls/private/web.key", True),
        ("/etc/passwd", False),
        ("/etc/ssh/sshd_config", False),
        ("/etc/ssh/ssh_host_ed25519_key.pub", False),
        ("/root/.ssh/authorized_keys", False),
        ("/root/.ssh/id_ed25519.pub", False),
    ],
)
def test_files_whose_content_is_shown_to_nobody(path, secret):
    assert keeps_secrets(path) is secret


STIG = """\
PermitRootLogin prohibit-password
AuthorizedKeysFile .ssh/authorized_keys /etc/ssh/keys/%u
Ciphers aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,aes256-ctr
MACs hmac-sha2-512-etm@openssh.com,hmac-sha2-256
KexAlgorithms sntrup761x25519-sha512@openssh.com,curve25519-sha256,ecdh-sha2-nistp521
HostKeyAlgorithms ecdsa-sha2-nistp256-cert-v01@openssh.com,sk-ssh-ed25519-cert-v01@openssh.com
HostKey /etc/ssh/ssh_host_ed25519_key
Subsystem sftp /usr/lib/openssh/sftp-server
X11UseLocalhost yes
PasswordAuthentication no
PermitEmptyPasswords no
auth        required      pam_faillock.so preauth silent deny=3 unlock_time=0
auth [success=1 default=ignore] pam_unix.so nullok try_first_pass
password    requisite     pam_pwquality.so retry=3 minlen=15 local_users_only
password [success=1 default=ignore] pam_unix.so obscure use_authtok try_first_pass yescrypt
password    sufficient    pam_unix.so sha512 shadow use_authtok
password   include      system-auth
-password   optional    pam_gnome_keyring.so
session [success=ok ignore=ignore module_unknown=ignore default=bad] pam_selinux.so open
temper ALL=(ALL) NOPASSWD: ALL
%wheel ALL=(ALL:ALL) NOPASSWD:SETENV: /usr/bin/systemctl restart x.service, PASSWD: /bin/su
Cmnd_Alias PASSWD = /usr/bin/passwd, /usr/bin/chage
Defaults:ops passwd_tries=3, passwd_timeout=5, !targetpw, badpass_message="Sorry"
Defaults secure_path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"
-w /etc/passwd -p wa -k passwd_changes
-a always,exit -F arch=b64 -S adjtimex,settimeofday,clock_settime -F key=time-change
-a always,exit -F path=/usr/bin/chage -F perm=x -F auid>=1000 -F auid!=unset -k privileged-passwd
-f 2
disk_full_action = HALT
krb5_principal = auditd
##krb5_key_file = /etc/audit/audit.key
PASS_MAX_DAYS   60
ENCRYPT_METHOD SHA512
SHA_CRYPT_MAX_ROUNDS 5000
passwd:     sss files systemd
shadow: files
*               hard    maxlogins       10
@audio   -  rtprio     95
*  soft  core  0
install usb-storage /bin/false
net.ipv4.conf.all.accept_redirects = 0
kernel.core_pattern=|/bin/false
kernel.yama.ptrace_scope = 1
gpgcheck=1
gpgkey=file:///etc/pki/rpm-gpg/RPM-GPG-KEY-redhat-release
baseurl=https://cdn.redhat.com/content/dist/rhel9/$releasever/x86_64/baseos/os
sslclientkey = /etc/pki/entitlement/1234567890123456789-key.pem
cipher@SSH = AES-256-GCM AES-256-CTR
Ciphersuites = TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256
0 * * * * root run-parts /etc/cron.hourly
17 *    * * *   root    cd / && run-parts --report /etc/cron.hourly
Nov 21 10:11:12 web sshd[811]: Failed password for invalid user admin from 192.0.2.9 port 41222 ssh2
Nov 21 10:11:12 web sshd[811]: Accepted publickey for root from 192.0.2.9 port 1 ssh2: ED25519 SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU
Nov 21 10:11:12 web sudo: root : TTY=pts/0 ; PWD=/root ; USER=root ; COMMAND=/usr/bin/cat /etc/passwd
type=USER_AUTH msg=audit(1700000000.123:456): pid=1 uid=0 auid=4294967295 ses=4294967295 msg='op=PAM:authentication grantors=? acct="root" exe="/usr/sbin/sshd" res=failed'
sshd: /etc/ssh/sshd_config line 12: Bad configuration option: PermitRootLogon
backup-login: new login as root for the nightly backup: PermitRootLogin no (/etc/ssh/sshd_config line 4)
mission-inbox: a new upload gets mode 0640 and owner deploy:mission under umask 027 (/etc/login.defs line 9): mission can read it
52:54:00:aa:11:bb
UUID=2f1c4b5e-8a1d-4c2b-9f6e-0a1b2c3d4e5f /boot ext4 defaults 0 2"""


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("line", STIG.split("\n"))
def test_what_rules_are_about_comes_through_whole(line, closed):
    for told in (line, f"+{line}", f"  {line}", f"secure: {line}"):
        assert redacted(told, closed=closed) == told


def lines_of(root, patterns):
    for pattern, _ in patterns:
        for at in root.glob(pattern[1:]):
            if at.is_file() and not keeps_secrets("/" + at.relative_to(root).as_posix()):
                with suppress(PermissionError):
                    yield from at.read_text(errors="replace").splitlines()


@pytest.mark.parametrize("root", [Path("/"), FIXTURE], ids=["this machine", "the built-in host"])
def test_of_files_that_are_judged_nothing_honest_is_taken_out(root):
    lines = list(lines_of(root, JUDGES))
    assert len(lines) > 100
    odd = [line for line in lines if redacted(line, closed=True) != line]
    assert odd == []
    assert redacted("\n".join(lines), closed=True) == "\n".join(lines)
