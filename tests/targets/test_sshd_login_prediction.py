import pytest

from app.syntax import sshd
from app.syntax.host_files_protocol import FileState
from app.targets.host_accounts import read_host_accounts
from app.targets.sshd_login_prediction import SshdLogin
from tests.targets.hosts import KEY, TODAY, host

MAIN = "/etc/ssh/sshd_config"


def refusal(main, changes=None):
    files = host({MAIN: main, **(changes or {})})
    return SshdLogin(files, read_host_accounts(files), sshd.read_sshd_config(files)).explain_refusal("temper", TODAY)


@pytest.mark.parametrize(
    "main",
    [
        "Match User=temper\nPubkeyAuthentication no\n",
        'Match "user" temper\nPubkeyAuthentication no\n',
        "Match User t?mper Group temper\nPubkeyAuthentication no\n",
        "DSAAuthentication no\n",
        "AllowUsers !kiosk\n",
        "Match User temper\nDenyUsers eve\nDenyUsers temper\n",
        "Match User temper\nDenyUsers eve\nMatch User t*\nDenyUsers temper\n",
        "Match User temper\nPubkeyAuthentication no\nMatch all\nPubkeyAuthentication yes\n",
        "AllowUsers temper\nMatch all\nAllowUsers eve\n",
        "LoginGraceTime 99999999999\n",
    ],
)
def test_who_is_meant_is_refused(main):
    assert refusal(main)


@pytest.mark.parametrize(
    "main",
    [
        "Match User [t]emper\nPubkeyAuthentication no\n",
        "Match User *,!temper\nPubkeyAuthentication no\n",
        "Match User temper Address 192.0.2.0/24\nPubkeyAuthentication no\n",
        "AllowUsers temper@192.0.2.* root\n",
        "DenyUsers !temper\n",
        "Match User temper\nAllowUsers eve\nMatch User t*\nAllowUsers temper\n",
        "AllowUsers eve\nMatch all\nAllowUsers temper\n",
        "LoginGraceTime 2147483647\n",
    ],
)
def test_who_is_not_meant_is_let_in(main):
    assert refusal(main) == ""


@pytest.mark.parametrize(("main", "refused"), [("AllowGroups ops@example.com\n", False), ("DenyGroups ops@*\n", True)])
def test_a_group_of_a_directory_is_matched_as_a_whole(main, refused):
    directory = {"/etc/group": FileState(b"temper:x:990:\nops@example.com:x:4001:temper\n", 0o644, "root:root")}
    assert bool(refusal(main, directory)) == refused


def test_the_line_that_refuses_is_named():
    main = "DenyUsers eve\nDenyUsers temper\n"
    assert refusal(main) == f"refused by DenyUsers temper ({MAIN} line 2)"


@pytest.mark.parametrize(
    ("keys", "loose"),
    [
        ("keys", "/home/temper"),
        (".ssh/a/b/keys", "/home/temper"),
        (".ssh/a/b/keys", "/home/temper/.ssh"),
        (".ssh/a/b/keys", "/home/temper/.ssh/a/b"),
        ("/srv/keys/temper", "/srv"),
    ],
)
def test_every_folder_from_the_key_to_the_home_is_checked(keys, loose):
    path = keys if keys.startswith("/") else f"/home/temper/{keys}"
    changes = {path: FileState(KEY.encode(), 0o600, "temper:temper"), "/home": FileState(b"", 0o777, "root:root")}
    main = f"AuthorizedKeysFile {keys}\n"
    assert refusal(main, changes) == ""
    changes[loose] = FileState(b"", 0o775, "temper:temper")
    assert refusal(main, changes) == f"others may write to {loose} (mode 0775)"
    assert refusal(main + "StrictModes no\n", changes) == ""
    changes[loose] = FileState(b"", 0o755, "eve:eve")
    assert refusal(main, changes) == f"{loose} belongs to eve:eve"


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("%h/keys", "/home/temper/keys"),
        ("/srv/%u/keys", "/srv/temper/keys"),
        ("/srv/%U", "/srv/1001"),
        ("/srv/%%h/%%%u", "/srv/%h/%temper"),
    ],
)
def test_the_path_of_the_keys_is_expanded_once(written, path):
    changes = {path: FileState(KEY.encode(), 0o600, "temper:temper")}
    assert refusal(f"AuthorizedKeysFile {written}\n", changes) == ""
    assert refusal(f"AuthorizedKeysFile {written}x\n", changes) == f"there is no key in {path}x"
