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
    [(DEBIAN_LOGIN, "/etc/bash.bashrc", "readonly TMOUT=900\n"), (RHEL_LOGIN, "/etc/bashrc", "TMOUT=900\n")],
)
def test_a_file_that_profile_sources_counts_for_a_login(login, changed, line):
    limit = "TMOUT=300\n" if changed == "/etc/bashrc" else "readonly TMOUT=300\n"
    before = {"/etc/profile": login, "/etc/profile.d/tmout.sh": limit}
    assert "TMOUT of a login is 300" in lost(before, {changed: line})
    assert lost(before, {changed: "TMOUT=200\n"}) == "" or changed == "/etc/bash.bashrc"


@pytest.mark.parametrize(
    ("host", "change"),
    [
        ({}, {f"{FOLDER}/a.sh": "umask 000\n"}),
        ({}, {f"{FOLDER}/a.sh": "umask 002\n"}),
        ({}, {f"{FOLDER}/a.sh": "if [ -d /usr ]; then umask 0; fi\n"}),
        ({f"{FOLDER}/a.sh": "umask 077\n"}, {f"{FOLDER}/a.sh": "# umask 077\n"}),
        ({f"{FOLDER}/a.sh": "umask 077\n"}, {f"{FOLDER}/b.sh": "umask 027\n"}),
        ({f"{FOLDER}/a.sh": "umask 077\n"}, {f"{FOLDER}/b.sh": "umask u=rwx\n"}),
        ({f"{FOLDER}/a.sh": "if a; then umask 077; fi\n"}, {f"{FOLDER}/a.sh": "# nothing\n"}),
        ({"/etc/login.defs": "UMASK 077\n"}, {f"{FOLDER}/a.sh": "umask 027\n"}),
        ({"/etc/bashrc": "umask 077\n"}, {"/etc/bashrc": "umask 022\n"}),
        ({LOGIN: DEBIAN_LOGIN, "/etc/bash.bashrc": "umask 077\n"}, {f"{FOLDER}/a.sh": "umask 027\n"}),
        ({LOGIN: RHEL_LOGIN, f"{FOLDER}/a.sh": "umask 077\n"}, {"/etc/bashrc": "umask 027\n"}),
        (
            {LOGIN: f"{LOOP}. {FOLDER}/sh.local\n", f"{FOLDER}/a.sh": "umask 077\n"},
            {f"{FOLDER}/sh.local": "umask 022\n"},
        ),
    ],
)
def test_the_umask_of_a_login_gets_no_weaker(host, change):
    assert "umask" in lost(host, change)


@pytest.mark.parametrize(
    ("host", "change"),
    [
        ({}, {f"{FOLDER}/a.sh": "umask 077\n"}),
        ({}, {f"{FOLDER}/a.sh": "umask 022\n"}),
        ({LOGIN: RHEL_LOGIN, f"{FOLDER}/a.sh": "umask 077\n"}, {"/etc/bashrc": "umask 077\n"}),
        ({LOGIN: DEBIAN_LOGIN, "/etc/bash.bashrc": "umask 022\n"}, {f"{FOLDER}/a.sh": "umask 027\n"}),
        (
            {LOGIN: "if a; then\n  umask 002\nelse\n  umask 022\nfi\n"},
            {LOGIN: "if a; then\n  umask 077\nelse\n  umask 077\nfi\n"},
        ),
        (
            {LOGIN: "if a; then\n  umask 002\nelse\n  umask 022\nfi\n"},
            {LOGIN: "if a; then\n  umask 022\nelse\n  umask 027\nfi\n"},
        ),
        (
            {f"{FOLDER}/a.sh": "umask 022\nf() { umask 000; }\n"},
            {f"{FOLDER}/a.sh": "umask 022\nf() { umask 000; }\n#\n"},
        ),
    ],
)
def test_a_stricter_umask_is_welcome(host, change):
    assert lost(host, change) == ""


@pytest.mark.parametrize(
    "line",
    [
        "PATH=$PATH:.",
        "PATH=$PATH:",
        "export PATH=:$PATH",
        'PATH="bin:${PATH}"',
        "PATH=/tmp/bin:$PATH",
        "PATH=$PATH:/home/deploy/bin",
        "PATH=$PATH:/usr/../tmp",
        "PATH=$PATH:$HOME/bin",
        "PATH=~/bin:$PATH",
        "PATH+=:/var/tmp",
        "pathmunge /srv/tools after",
        "[ -d /srv/bin ] && PATH=/srv/bin${PATH:+:${PATH}}",
        "unset PATH",
        "PATH=/opt/only",
        "readonly PATH",
        "declare -r PATH=/usr/bin:/bin",
    ],
)
@pytest.mark.parametrize("path", [f"{FOLDER}/z.sh", "/etc/bashrc", "/etc/bash.bashrc", LOGIN])
def test_no_folder_that_others_write_to_comes_into_the_path(path, line):
    assert "unsafe in PATH" in lost({LOGIN: LOOP}, {path: f"{LOOP if path == LOGIN else ''}{line}\n"})


@pytest.mark.parametrize(
    "line",
    [
        "PATH=$PATH:/opt/tool/bin",
        'export PATH="/usr/local/sbin:${PATH}"',
        "PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin",
        "PATH+=:/usr/games",
        "pathmunge /usr/sbin after",
        "PATH=${PATH:+${PATH}:}/snap/bin",
        "echo PATH=.",
    ],
)
def test_folders_of_the_system_may_come(line):
    assert lost({LOGIN: LOOP}, {f"{FOLDER}/z.sh": f"{line}\n"}) == ""
    unsafe = {f"{FOLDER}/a.sh": "PATH=.:$PATH\n"}
    assert lost(unsafe, {f"{FOLDER}/z.sh": f"{line}\n"}) == lost(unsafe, {f"{FOLDER}/a.sh": "#\n"}) == ""


def test_a_plain_sh_keeps_its_timeout_too():
    before = {LOGIN: DEBIAN_LOGIN, f"{FOLDER}/a.sh": "TMOUT=600\n"}
    reason = lost(before, {f"{FOLDER}/a.sh": "# moved\n", "/etc/bash.bashrc": "TMOUT=600\n"})
    assert reason.startswith("profile: TMOUT of a login by sh is 600 and would be never")


def test_a_script_that_would_fail_at_a_readonly_variable_is_seen_whatever_its_name():
    assert "lines that fail" in lost({f"{FOLDER}/b.sh": "umask 022\nA=1\n"}, {f"{FOLDER}/a.sh": "readonly A=2\n"})
