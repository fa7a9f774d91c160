import pytest

from tests.targets.effects.change import lost

LOGIN, FOLDER = "/etc/profile", "/etc/profile.d"
LOOP = 'for script in /etc/profile.d/*.sh; do\n    [ -r "$script" ] && . "$script"\ndone\n'


@pytest.mark.parametrize(
    ("host", "change"),
    [
        ({f"{FOLDER}/a.sh": "TMOUT=300\n"}, {f"{FOLDER}/b.sh": "TMOUT=600\n"}),
        ({f"{FOLDER}/a.sh": "TMOUT=300\n"}, {f"{FOLDER}/0.sh": "readonly TMOUT=600\n"}),
        ({f"{FOLDER}/a.sh": "TMOUT=300\n"}, {f"{FOLDER}/0.sh": "readonly TMOUT\n"}),
        ({f"{FOLDER}/a.sh": "readonly TMOUT\n"}, {f"{FOLDER}/b.sh": "TMOUT=600\n"}),
        ({f"{FOLDER}/a.sh": "readonly TMOUT=600\n"}, {f"{FOLDER}/a.sh": "TMOUT=600\n"}),
        ({f"{FOLDER}/a.sh": "readonly TMOUT=600\n"}, {f"{FOLDER}/a.sh": "TMOUT=300\n"}),
        ({f"{FOLDER}/a.sh": "TMOUT=600\n"}, {f"{FOLDER}/a.sh": "TMOUT=0\n"}),
        ({f"{FOLDER}/a.sh": "TMOUT=600\n"}, {f"{FOLDER}/a.sh": "unset TMOUT\n"}),
        ({LOGIN: LOOP, f"{FOLDER}/a.sh": "TMOUT=300\n"}, {LOGIN: LOOP + "TMOUT=600\n"}),
        ({"/etc/bashrc": "TMOUT=300\n"}, {"/etc/bashrc": "TMOUT=600\n"}),
    ],
)
def test_a_shell_that_ended_sooner_still_does(host, change):
    assert lost(host, change)


@pytest.mark.parametrize(
    ("host", "change"),
    [
        ({}, {f"{FOLDER}/tmout.sh": "declare -xr TMOUT=600\n"}),
        ({f"{FOLDER}/a.sh": "TMOUT=900\n"}, {f"{FOLDER}/b.sh": "TMOUT=600; readonly TMOUT; export TMOUT\n"}),
        ({LOGIN: LOOP, f"{FOLDER}/a.sh": "TMOUT=300\n"}, {LOGIN: "TMOUT=600\n" + LOOP}),
    ],
)
def test_sooner_is_welcome(host, change):
    assert lost(host, change) == ""


DEBIAN_LOGIN = "if true; then\n  . /etc/bash.bashrc\nfi\nfor i in /etc/profile.d/*.sh; do . $i; done\n"
RHEL_LOGIN = "# Functions go in /etc/bashrc\nfor i in /etc/profile.d/*.sh; do . $i; done\n. /etc/bashrc\n"


@pytest.mark.parametrize(
    ("login", "changed", "line"),
    [
        (DEBIAN_LOGIN, "/etc/bash.bashrc", "readonly TMOUT=900\n"),
        (RHEL_LOGIN, "/etc/bashrc", "TMOUT=900\n"),
    ],
)
def test_a_file_that_profile_sources_counts_for_a_login(login, changed, line):
    limit = "TMOUT=300\n" if changed == "/etc/bashrc" else "readonly TMOUT=300\n"
    before = {"/etc/profile": login, "/etc/profile.d/tmout.sh": limit}
    assert "TMOUT of a login is 300" in lost(before, {changed: line})
    assert lost(before, {changed: "TMOUT=200\n"}) == "" or changed == "/etc/bash.bashrc"
