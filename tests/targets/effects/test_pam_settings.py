"""What a change to a PAM stack comes to, for each service that includes it."""

import pytest

from app.events.event_field_types import ReplaceLine, WriteFile
from app.targets import policy
from app.targets.effects.pam_settings import Pam
from tests.differential.linkless import Linkless
from tests.hostfiles import DictFiles
from tests.targets.effects.losses import losses

PAM = Pam()
PATH = "/etc/pam.d/system-auth"
TOP = "# As the site has it."
STRICT = "auth required pam_faillock.so preauth deny=2 unlock_time=0"
QUALITY = "password requisite pam_pwquality.so minlen=128"
STACK = f"""{TOP}
{STRICT}
auth sufficient pam_unix.so nullok
auth required pam_faillock.so authfail deny=2
auth required pam_deny.so
account required pam_unix.so
{QUALITY}
password sufficient pam_unix.so yescrypt use_authtok
password required pam_deny.so
session required pam_unix.so
"""


def files(text=STACK, **others):
    including = "".join(f"{kind} include system-auth\n" for kind in ("auth", "account", "password", "session"))
    given = {
        "/etc/pam.d/sshd": including,
        PATH: text,
        **{f"/etc/security/{name}.conf": t for name, t in others.items()},
    }
    return Linkless(given)


def refused(old, new):
    action = ReplaceLine(path=PATH, old=old, new=new)
    return [one.reason for one in policy.list_action_refusals([action], frozenset({PATH}), files())]


@pytest.mark.parametrize("line", ["\\ #", "\\ # nothing", "\t\\#", "\\\t# x"])
def test_a_line_that_only_looks_like_a_comment_shuts_everybody_out(line):
    """libpam takes the backslash for a rule that it cannot read, and refuses: it joins nothing behind a #."""
    assert refused(TOP, line)
    lost = losses(PAM, files(), files(STACK.replace(TOP, line)))
    assert "sshd auth for the right password" in lost
    assert "sshd auth for root with the right password" in lost


@pytest.mark.parametrize(
    ("rule", "word", "told"),
    [
        (STRICT, "deny=5", "deny"),
        (STRICT, "unlock_time=900", "unlock_time"),
        (STRICT, "local_users_only", "local_users_only"),
        (QUALITY, "minlen=12", "minlen"),
        (QUALITY, "local_users_only", "local_users_only"),
        ("password sufficient pam_unix.so yescrypt use_authtok", "sha512", "hash"),
    ],
)
def test_a_second_argument_has_the_last_word(rule, word, told):
    assert refused(rule, f"{rule} {word}")
    assert any(key.endswith(f": {told}") for key in losses(PAM, files(), files(STACK.replace(rule, f"{rule} {word}"))))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("auth required pam_deny.so\n", "", "pam_deny.so: is asked"),
        ("auth required pam_deny.so", "auth required pam_permit.so", "pam_permit.so: is asked"),
        ("sufficient pam_unix.so nullok", "[success=done default=ignore] pam_permit.so", "for a wrong password"),
        (f"{STRICT}\n", f"auth [success=1 default=ignore] pam_permit.so\n{STRICT}\n", "a locked account"),
        (f"{QUALITY}\n", "", "for a good new password"),
        (QUALITY, "password requisite pam_pwhistory.so use_authtok remember=5", "for a good new password"),
        ("required pam_unix.so\n", "optional pam_unix.so\naccount required pam_permit.so\n", "an expired account"),
        ("auth required pam_faillock.so authfail deny=2\n", "", "pam_faillock.so authfail: is asked"),
        (f"{STRICT}\n", f"{STRICT}\nauth required pam_deny.so\n", "for the right password"),
        ("session required pam_unix.so\n", "session required pam_deny.so\n", "everybody who signed in"),
        (
            "session required pam_unix.so",
            "session required pam_unix.so\nsession optional pam_exec.so /x",
            "pam_exec.so",
        ),
        (STRICT, f"{STRICT} conf=/tmp/x", "conf"),
        ("use_authtok\n", "\n", "use_authtok"),
        (TOP, f"{TOP}\nauth required pam_env.so \\", "pam_faillock.so preauth: is asked"),
    ],
)
def test_what_opens_a_stack_or_shuts_it(old, new, told):
    assert STACK.replace(old, new) != STACK
    assert any(told in key for key in losses(PAM, files(), files(STACK.replace(old, new))))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (" nullok", ""),
        ("deny=2 unlock_time=0", "deny=2 unlock_time=0 even_deny_root"),
        ("minlen=128", "minlen=130"),
        (QUALITY, f"{QUALITY}\npassword required pam_pwhistory.so remember=5"),
        ("account required pam_unix.so", "account required pam_faillock.so\naccount required pam_unix.so"),
        (TOP, "# something else"),
    ],
)
def test_what_makes_a_stack_stricter(old, new):
    assert losses(PAM, files(), files(STACK.replace(old, new))) == []


def test_a_modules_own_file_counts_with_its_arguments():
    """In the file it is the host's; as an argument it is the rule's, whatever the file says."""
    plain = STACK.replace(" deny=2 unlock_time=0", "")
    assert "sshd auth: pam_faillock.so preauth: deny" in losses(PAM, files(plain, faillock="deny=2"), files(plain))
    assert losses(PAM, files(faillock="deny=2"), files(faillock="deny=9")) == []


def test_a_service_that_cannot_be_read_lets_nobody_in():
    found = PAM.read_settings(files("auth required pam_permit.so \\"))
    assert {value for key, value in found.items() if key.startswith("system-auth") and " for " in key} == {"refused"}


def test_other_counts_for_a_service_without_rules():
    found = PAM.read_settings(DictFiles({"/etc/pam.d/x": "", "/etc/pam.d/other": "auth required pam_permit.so\n"}))
    assert found["x auth for a wrong password"] == "let in"
    assert found["x account for an account in order"] == "refused"


def test_a_new_service_may_not_let_anybody_in():
    path = "/etc/pam.d/new"
    before, after = DictFiles({}), DictFiles({path: "auth required pam_permit.so\n"})
    assert "new auth for a wrong password" in losses(PAM, before, after)
    assert policy.list_action_refusals([WriteFile(path=path, content="")], frozenset({path}), files())
