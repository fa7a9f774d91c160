import random
import tomllib
from contextlib import suppress
from pathlib import Path
from string import ascii_letters, ascii_lowercase, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.targets import fixture
from app.targets.writable_areas import JUDGES
from app.text.redaction import GONE, is_secret_path, redact_secrets

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
    assert "CANARY" not in redact_secrets(text)
    assert GONE in redact_secrets(text)


@pytest.mark.parametrize("text", [KEY, *CRYPT, f"root:{CRYPT[0]}:20301:0:99999:7:::", "password = CANARY"])
def test_wherever_it_is_cut_off(text):
    """A prompt's limit may fall anywhere."""
    for end in range(len(text)):
        assert "CANARY" not in redact_secrets(text[:end] + "…")


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
    assert redact_secrets(text) == text


DATA = Path(__file__).parents[1] / "data/secrets"
FORMS = tomllib.loads((DATA / "forms.toml").read_text())
HONEST = (DATA / "honest.txt").read_text().splitlines()
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
    return [
        f"{''.join(draw.choices(ascii_lowercase, k=draw.randint(2, 6)))}canary{draw.randint(0, 9999)}" for _ in range(8)
    ]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", FORMS)
def test_no_canary_of_any_form_comes_through(form, place):
    before, after = PLACES[place].split("{}")
    ahead, prefix = before.rpartition("\n")[0], before.rpartition("\n")[2]
    for seed in range(10):
        words = upper(form, passwords(seed))
        lines = [f"{prefix}{line}" for line in FORMS[form].format(*words).split("\n")]
        told = redact_secrets(ahead + "\n" * bool(ahead) + "\n".join(lines) + after)
        assert [word for word in words if word in told] == [], told


@pytest.mark.parametrize("form", sorted(FORMS.keys() - {"grub", "pem", "openssh", "pgp", "netrc", "bind"}))
def test_no_line_of_any_form_comes_through_alone_as_evidence_quotes_it(form):
    words = upper(form, [f"abcanary{number}xy" for number in range(8)])
    for line in FORMS[form].format(*words).split("\n"):
        for quoted in (f"/etc/x line 3 says '{line}'", f"secure: {line}", f'"{line}"'):
            if "'" in line or '"' in line:
                continue
            assert [word for word in words if word in redact_secrets(quoted)] == [], quoted


@pytest.mark.parametrize(("length", "closed"), [(24, False), (32, False), (44, False), (64, False), (16, True)])
def test_a_random_word_of_no_known_form_is_taken_out(length, closed):
    draw = random.Random(length)
    words = ["".join(draw.choice(ascii_letters + digits) for _ in range(length)) for _ in range(300)]
    left = [word for word in words if word in redact_secrets(f"seed {word} end", from_restricted_file=closed)]
    assert len(left) <= 300 * (0.15 if length < 20 else 0.05)
    assert "aB3" not in redact_secrets("the seed is 0f3a9b7c55e84d21a6d7c0b1e2f39485 here")


@given(st.text())
def test_twice_is_as_good_as_once(text):
    assert redact_secrets(redact_secrets(text)) == redact_secrets(text)


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
    assert is_secret_path(path) is secret


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("line", HONEST)
def test_what_rules_are_about_comes_through_whole(line, closed):
    for told in (line, f"+{line}", f"  {line}", f"secure: {line}"):
        assert redact_secrets(told, from_restricted_file=closed) == told


def lines_of(root, patterns):
    for pattern, _ in patterns:
        for at in root.glob(pattern[1:]):
            if at.is_file() and not is_secret_path("/" + at.relative_to(root).as_posix()):
                with suppress(PermissionError):
                    yield from at.read_text(errors="replace").splitlines()


@pytest.mark.parametrize("root", [Path("/"), FIXTURE], ids=["this machine", "the built-in host"])
def test_of_files_that_are_judged_nothing_honest_is_taken_out(root):
    lines = list(lines_of(root, JUDGES))
    assert len(lines) > 100
    odd = [line for line in lines if redact_secrets(line, from_restricted_file=True) != line]
    assert odd == []
    assert redact_secrets("\n".join(lines), from_restricted_file=True) == "\n".join(lines)


def test_what_was_found_clean_once_is_not_taken_for_it_where_shorter_words_count():
    text = "seed of the cluster aB3dE5gH7jK9m"
    for _ in range(2):
        assert redact_secrets(text) == text
        assert redact_secrets(text, from_restricted_file=True) != text


@pytest.mark.parametrize(
    "text",
    [
        "/etc/sudoers.d/zz-password: only what temper may do is not ours to change.",
        "cat: /etc/app/db.passwd: Permission denied",
        "refused: /usr/lib/x/my-secret: No such file or directory",
    ],
)
def test_a_message_about_a_file_is_no_setting(text):
    assert redact_secrets(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "/etc/app/password: hunter2x",
        "/etc/app/password:hunter2x or so",
        "/etc/app/password=hunter two",
        "/prod/db/password: hunter two",
        '{"/etc/app/password": "hunter two"}',
        "password: hunter two",
    ],
)
def test_a_setting_that_looks_like_a_path_is_still_one(text):
    assert "hunter" not in redact_secrets(text)
