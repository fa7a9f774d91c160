import pytest

from app.targets.effects.dnf_settings import MAIN
from tests.targets.effects.change import lost

REPO = "/etc/yum.repos.d/site.repo"
SIGNED = "[main]\ngpgcheck=1\nbest=True\n"


@pytest.mark.parametrize(
    ("path", "now"),
    [
        (MAIN, "[main]\ngpgcheck=0\nbest=True\n"),
        (MAIN, "[main]\nbest=True\n"),
        (MAIN, "[main]\ngpgcheck=on\n  off\nbest=True\n"),
        (MAIN, SIGNED + "sslverify=0\n"),
        (MAIN, SIGNED + "installonly_limit=10\n"),
        (REPO, "[site]\nbaseurl=https://x\ngpgcheck=0\n"),
        (REPO, "[site]\nbaseurl=https://y\n"),
    ],
)
def test_packages_stay_checked(path, now):
    assert lost({MAIN: SIGNED, REPO: "[site]\nbaseurl=https://x\n"}, {path: now})


@pytest.mark.parametrize("now", [SIGNED.replace("1", "yes"), SIGNED + "localpkg_gpgcheck=1\n"])
def test_checked_more_is_welcome(now):
    assert lost({MAIN: SIGNED}, {MAIN: now}) == ""


def test_a_repository_with_a_dot_in_its_id_has_the_settings_of_all():
    repository = "[site-9.2]\nbaseurl=https://x\n"
    files = {MAIN: SIGNED, REPO: repository}
    assert lost(files, {REPO: f"{repository}gpgcheck=1\n"}) == ""
    assert "site-9.2.gpgcheck is 1 " in lost(files, {REPO: f"{repository}gpgcheck=0\n"})


def test_of_a_repository_that_two_files_define_dnf_uses_the_first():
    unsigned, signed = "[site]\nbaseurl=https://x\ngpgcheck=0\n", "[site]\nbaseurl=https://x\ngpgcheck=1\n"
    first, last = "/etc/yum.repos.d/a.repo", "/etc/yum.repos.d/z.repo"
    assert "site.gpgcheck is 1 " in lost({MAIN: SIGNED, first: signed, last: unsigned}, {first: unsigned})
    assert lost({MAIN: SIGNED, first: signed, last: signed}, {last: unsigned}) == ""
    assert "site.gpgcheck is 1 " in lost({MAIN: SIGNED, last: signed}, {first: unsigned})
