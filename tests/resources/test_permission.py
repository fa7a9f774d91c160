import subprocess

import pytest

from app.resources.kind import ForeseenStates, HostState, ResourceState, RuleTexts
from app.resources.permission import SetPermissions, find_candidates, judge_permissions
from app.targets.ssh.shell_script import load_script
from tests.resources.case import KindCase, Sample
from tests.targets.ssh.conftest import host, opened  # noqa: F401 (fixtures)

WAS = "folder 0755 root:root"
CASE = KindCase(
    samples=(
        Sample(
            SetPermissions(path="/etc/cron.d", mode="0700"),
            HostState(WAS),
            ResourceState("permission:/etc/cron.d", WAS, "folder 0700 root:root"),
            ResourceState("permission:/etc/cron.d", WAS, "folder 0757 root:root"),
        ),
    ),
    rule=RuleTexts("x", "Run: sudo chmod 0700 /etc/cron.d"),
    prepare="mkdir -p /etc/cron.d; chmod 0755 /etc/cron.d",
)


def judge(path, before, after):
    return judge_permissions(ForeseenStates((ResourceState(f"permission:{path}", before, after),)))


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("/etc/sudoers.d", "folder 0755 root:root", "folder 0750 root:root"),
        ("/var/log/audit", "folder 0750 ana:adm", "folder 0700 root:root"),
        ("/home/ana/.profile", "file 0644 ana:ana home", "file 0600 ana:ana home"),
        ("/usr/bin/sudo", "file 4755 root:root program", "file 4711 root:root program"),
        ("/usr/lib/x", "folder 0777 root:root", "folder 0755 root:root"),
        ("/etc/gshadow-", "file 0640 root:shadow", "file 0640 root:root"),
        ("/srv/inbox", "folder 0777 root:root", "folder 1777 root:root"),
    ],
)
def test_permissions_may_become_stricter(path, before, after):
    assert judge(path, before, after) is None


@pytest.mark.parametrize(
    ("path", "before", "after", "clause"),
    [
        ("/etc/cron.d", "folder 0700 root:root", "folder 0755 root:root", "privilege"),
        ("/usr/bin/sh", "file 0755 root:root program", "file 4755 root:root program", "privilege"),
        ("/usr/bin/sudo", "file 4755 root:root program", "file 0755 root:root program", "destruction"),
        ("/usr/bin/sudo", "file 4755 root:root program", "file 4110 root:root program", "lockout"),
        ("/etc", "folder 0755 root:root", "folder 0750 root:root", "destruction"),
        ("/var/cache/mail", "folder 0750 root:mail", "folder 0700 root:mail", "destruction"),
        ("/var/lib/x", "folder 0750 root:x", "folder 0750 root:root", "destruction"),
        ("/var/lib/x", "folder 0755 x:x", "folder 0755 ana:x", "privilege"),
        ("/home/ana", "folder 0755 ana:ana home", "folder 0700 root:ana home", "lockout"),
        ("/var/lib/x", "folder 0755 x:x", "folder 0455 x:x", "destruction"),
        ("/dev/shm", "folder 1777 root:root", "folder 1755 root:root", "destruction"),
        ("/etc/gshadow", "file 0640 root:shadow", "file 0640 root:root", "destruction"),
        ("/etc/x", "link", "file 0600 root:root", "not understood"),
        ("/usr/bin/x", "file 4755 ana:ana program", "file 4755 root:ana program", "destruction"),
    ],
)
def test_nobody_is_let_in_and_nobody_shut_out(path, before, after, clause):
    assert judge(path, before, after).clause == clause


def test_a_text_names_the_mode_and_the_owner_of_a_path():
    text = "$ sudo chmod 700 /etc/cron.d\n$ sudo chown root:root /etc/cron.d\n$ chmod 0644 /etc/*.conf"
    assert list(find_candidates(RuleTexts("x", text))) == [
        SetPermissions(path="/etc/cron.d", mode="0700", owner="root:root")
    ]


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("$ sudo chown root /etc/gshadow-", "root"),
        ("$ sudo chgrp root /etc/gshadow-", ":root"),
        ("$ sudo chown 0 /etc/gshadow-\n$ sudo chgrp 0 /etc/gshadow-", "root:root"),
    ],
)
def test_a_text_names_the_half_of_an_owner(text, owner):
    assert list(find_candidates(RuleTexts("x", text))) == [SetPermissions(path="/etc/gshadow-", owner=owner)]


@pytest.mark.parametrize(
    ("owner", "after"),
    [("root", "root:mail"), (":root", "daemon:root"), ("root:root", "root:root"), ("-", "daemon:mail")],
)
def test_what_is_left_out_of_an_owner_stays(owner, after):
    script = f"{load_script('permission')}\nchanged - {owner} file 0644 daemon:mail program"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == f"file 0644 {after} program\n"


@pytest.mark.parametrize(
    ("owner", "known"),
    [("root", True), (":root", True), ("nobody-here", False), (":nobody-here", False), ("root:nobody-here", False)],
)
def test_an_account_and_a_group_have_to_be_on_the_host(owner, known):
    done = subprocess.run(["sh", "-c", f"{load_script('permission')}\nhas_owner {owner}"], check=False)
    assert done.returncode == (0 if known else 1)


def test_a_home_outside_of_etc_is_changed_without_drift_and_taken_back(host, opened):  # noqa: F811
    home = host.root / "home/opsadmin"
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o775)
    target = opened()
    target.prepare()
    action, place = SetPermissions(path="/home/opsadmin", mode="0755"), frozenset({"permission:/home/opsadmin"})
    done = target.apply("home", [action], place)
    assert home.stat().st_mode & 0o7777 == 0o755
    assert target.describe_drift(done.changes) == ()
    assert target.roll_back("home").differences == ()
    assert home.stat().st_mode & 0o7777 == 0o775
    assert target.describe_drift(()) == ()
