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
