import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.events.secrets import GONE, keeps_secrets, redacted

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
