"""A host with secrets in many places, each in the form of the program that keeps it there."""

import secrets as random
from pathlib import Path

from app.text.random_key_detection import is_key

_ALPHABET = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"


def canary() -> str:
    """As nobody else writes it, and as a key of its length nearly always looks."""
    while True:
        made = "Cnry" + "".join(random.choice(_ALPHABET) for _ in range(18))
        if is_key(made):
            return made


SECRETS: tuple[tuple[str, str, int], ...] = (
    ("/etc/wireguard/wg0.conf", "[Interface]\nAddress = 10.0.0.1/24\nPrivateKey = {}aaaaaaaaaaaaaaaaaaaaa=\n", 0o600),
    ("/root/.pgpass", "db.example:5432:app:app:{}\n", 0o600),
    ("/etc/ppp/chap-secrets", "# client server secret IP\nalice * {} *\n", 0o600),
    ("/etc/kubernetes/admin.conf", "users:\n- name: admin\n  user:\n    client-key-data: {}\n    token: {}\n", 0o600),
    ("/root/.netrc", "machine api.example login me password {}\n", 0o600),
    ("/root/.aws/credentials", "[default]\naws_access_key_id = AKIA0000\naws_secret_access_key = {}\n", 0o600),
    ("/etc/ssl/private/web.key", "-----BEGIN PRIVATE KEY-----\n{}\n{}\n-----END PRIVATE KEY-----\n", 0o600),
    ("/etc/snmp/snmpd.conf", "rwcommunity {}\ncreateUser ops SHA {} AES {}\n", 0o600),
    ("/etc/wpa_supplicant/wpa_supplicant.conf", 'network={{\n ssid="x"\n psk="{}"\n}}\n', 0o600),
    ("/etc/ldap.conf", "base dc=example\nbinddn cn=x\nbindpw {}\n", 0o640),
    ("/etc/nginx/.htpasswd", "alice:$apr1${}$abc\n", 0o640),
    ("/root/.docker/config.json", '{{"auths": {{"r.example": {{"auth": "{}"}}}}}}\n', 0o600),
    ("/root/.my.cnf", "[client]\nuser=root\npassword={}\n", 0o600),
    ("/etc/mysql/debian.cnf", "[client]\npassword = {}\n", 0o600),
    ("/etc/sssd/sssd.conf", "[domain/x]\nldap_default_authtok = {}\n", 0o600),
    ("/etc/NetworkManager/system-connections/office.nmconnection", "[wifi-security]\npsk={}\n", 0o600),
    ("/etc/ipsec.secrets", ': PSK "{}"\n', 0o600),
    ("/etc/samba/credentials", "username=x\npassword={}\n", 0o600),
    ("/etc/chrony.keys", "1 SHA256 {}\n", 0o640),
    ("/etc/environment.d/tokens.conf", "GITHUB_TOKEN=ghp_{}\n", 0o600),
    ("/etc/krb5.keytab", "{}", 0o600),
    ("/boot/grub/user.cfg", "GRUB2_PASSWORD=grub.pbkdf2.sha512.10000.{}\n", 0o600),
    (
        "/home/opsadmin/.ssh/id_ed25519",
        "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----\n",
        0o600,
    ),
    ("/etc/cron.d/backup", "0 1 * * * root curl -H 'Authorization: Bearer {}' https://u:{}@b.example\n", 0o600),
)
"""Where, what and with which mode; `{}` is where a canary goes."""


def planted(root: Path) -> list[str]:
    """The canaries, each of them once."""
    canaries = []
    for path, text, mode in SECRETS:
        at = root / path[1:]
        at.parent.mkdir(parents=True, exist_ok=True)
        own = [canary() for _ in range(text.replace("{{", "").count("{}"))]
        at.write_text(text.format(*own))
        at.chmod(mode)
        canaries += own
    return canaries


JUDGED: tuple[tuple[str, str], ...] = (
    ("/etc/profile.d/tokens.sh", "export VAULT_TOKEN={}\n"),
    ("/etc/dnf/dnf.conf", "proxy=http://me:{}@proxy.example:3128\nproxy_password = {}\n"),
    ("/etc/yum.repos.d/inner.repo", "[inner]\nbaseurl=https://u:{}@repo.example/\npassword={}\n"),
    ("/etc/sudoers", "# the key of the vault is {}\n"),
    ("/etc/shadow", "extra:$6$salt${}:20301:0:99999:7:::\n"),
    ("/etc/login.defs", "# was {}\n"),
    ("/etc/ssh/sshd_config", "# token = {}\n"),
    ("/var/log/secure", "Nov 21 sudo: COMMAND=/usr/bin/mysql --password={} -h db\n"),
    ("/var/log/messages", "Nov 21 app: Authorization: Bearer {}\n"),
)
"""In files that are told, and in logs."""


def slipped_in(root: Path) -> list[str]:
    """The canaries that stand where a role does look."""
    canaries = []
    for path, text in JUDGED:
        at = root / path[1:]
        at.parent.mkdir(parents=True, exist_ok=True)
        own = [canary() for _ in range(text.count("{}"))]
        mode = at.stat().st_mode & 0o7777 if at.exists() else 0o644
        if at.exists():
            at.chmod(0o600)
        with at.open("a") as file:
            file.write(text.format(*own))
        at.chmod(mode)
        canaries += own
    return canaries
