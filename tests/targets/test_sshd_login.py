import pytest

from app.syntax import sshd
from app.targets.host_accounts import read_host_accounts
from app.targets.sshd_login import SshdLogin
from tests.targets.hosts import TODAY, host

MAIN = "/etc/ssh/sshd_config"


def refusal(main):
    files = host({MAIN: main})
    return SshdLogin(files, read_host_accounts(files), sshd.read_sshd_config(files)).explain_refusal("temper", TODAY)


@pytest.mark.parametrize(
    "main",
    [
        "Match User=temper\nPubkeyAuthentication no\n",
        'Match "user" temper\nPubkeyAuthentication no\n',
        "Match User t?mper Group temper\nPubkeyAuthentication no\n",
        "DSAAuthentication no\n",
        "AllowUsers !kiosk\n",
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
    ],
)
def test_who_is_not_meant_is_let_in(main):
    assert refusal(main) == ""
