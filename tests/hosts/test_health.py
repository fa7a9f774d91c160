"""On a real Debian: its own libpam, sudo and tools are asked, and what a change breaks comes out of their mouths."""

import asyncio

import pytest

from app.loop.harm_seen_by_probes import find_first_harm
from app.targets.rootfs.requirements import build_namespace_command
from app.targets.ssh.endpoint import Endpoint, WatchedLogin
from app.targets.ssh.ssh_target import SshTarget
from tests.hosts.over_ssh import OverSsh

pytestmark = [pytest.mark.real_host, pytest.mark.timeout(300)]

AUTH, SSHD = "/etc/pam.d/common-auth", "/etc/pam.d/sshd"
SITE = "/etc/sudoers.d/site"
DEPLOY = "useradd -m -s /bin/bash deploy"
FIRST = "sed -i '1i {}' {}"
SETTLED = """mkdir -p /etc/audit /var/log/audit /etc/selinux/targeted/policy
: >/etc/selinux/targeted/policy/policy.33
echo SELINUX=permissive >/etc/selinux/config"""
HARMS = [
    ("password-login: nobody is let in", FIRST.format("auth requisite pam_deny.so", AUTH)),
    ("password-login: no longer: sshd lets", FIRST.format("auth requisite pam_deny.so", SSHD)),
    # The next rule becomes an argument of this one.
    ("password-login: nobody is let in", f"sed -i '/pam_unix.so/i auth optional pam_env.so \\\\' {AUTH}"),
    ("agent-login: ", "echo closed >/etc/nologin"),
    ("password-login: no longer: sshd lets opsadmin in", "echo closed >/etc/nologin"),
    ("password-login: with a wrong password everybody is let in", FIRST.format("auth sufficient pam_permit.so", AUTH)),
    ("pam-modules: ", FIRST.format("auth required pam_nowhere.so", AUTH)),
    ("password-login: no longer: sshd lets opsadmin in", "chage -E 1 opsadmin"),
    ("pam-modules: ", FIRST.format("password required pam_pwquality.so", "/etc/pam.d/common-password")),
    ("become: ", FIRST.format("session required pam_deny.so", "/etc/pam.d/su")),
    (
        "sudo-rights: new: opsadmin: (ALL:ALL) ALL without a password",
        f"echo 'Defaults !authenticate' >{SITE}; chmod 440 {SITE}",
    ),
    (
        "sudo-rights: new: temper: (root) /bin/true",
        f"echo 'ALL ALL=(root) NOPASSWD: /bin/true' >{SITE}; chmod 440 {SITE}",
    ),
    ("sudo-rights: no longer: opsadmin: (ALL:ALL) ALL", "sed -i '/^%sudo/d' /etc/sudoers"),
    ("login-shells: ", "chmod 600 /etc/bash.bashrc"),
    (
        "audit-disk: auditd goes to halt now",
        "printf 'space_left = 99%%\\nspace_left_action = halt\\n' >/etc/audit/auditd.conf",
    ),
    ("audit-panic: ", "printf -- '-f 2\\n-w /lib/x86_64-linux-gnu/libc.so.6 -p r\\n-e 2\\n' >/etc/audit/audit.rules"),
    ("selinux-boot: ", "echo SELINUXTYPE=mls >>/etc/selinux/config"),
    ("next-boot: ", "ln -sf /dev/null /etc/systemd/system/ssh.service"),
]


KEEP = "rm -rf /var/tmp/etc; cp -a /etc /var/tmp/etc"
PUT_BACK = """cp -a --remove-destination /var/tmp/etc/. /etc/
cd /etc && find . | sort >/var/tmp/now && cd /var/tmp/etc && find . | sort >/var/tmp/was
cd /etc && comm -23 /var/tmp/now /var/tmp/was | while read -r path; do rm -rf "$path"; done"""


@pytest.fixture(scope="module")
def target(machine, tmp_path_factory):
    _inside(machine, f"{DEPLOY}; {SETTLED}; {KEEP}")
    folder, at, root = tmp_path_factory.mktemp("deb"), machine.get_access(), machine.get_access("root")
    (folder / "known_hosts").write_text(at.known_hosts.read_text())
    watched = (WatchedLogin("root", str(root.key)),)
    end = Endpoint(
        user=at.account, address="127.0.0.1", port=at.port, way="key", secret_at=str(at.key), watched=watched
    )
    opened = SshTarget("deb", folder, end)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def before(target):
    return _health(target)


@pytest.fixture
def broken(machine):
    """Whatever a test breaks is put back after it, by root's own login: the other may be what it broke."""
    yield lambda script: _inside(machine, script)
    _inside(machine, PUT_BACK)


def _inside(machine, script):
    ran = asyncio.run(OverSsh(machine.get_access("root")).run(["sh", "-c", script], 60))
    assert ran.code == 0, ran.stderr
    return ran.stdout.decode()


def _health(target):
    return target.check_health()


def test_a_debian_as_it_comes_is_fine_twice_and_nothing_of_the_asking_is_left(target, machine, before):
    look = (
        "find /etc -type f -exec sha256sum {} + | sort | sha256sum; mount | sort; ls -la /mnt /run/faillock 2>&1; true"
    )
    was = _inside(machine, look)
    assert [probe for probe in before if not probe.ok] == []
    assert find_first_harm(before, _health(target)) is None
    assert _inside(machine, look) == was
    logs = _inside(machine, "cat /var/log/auth.log")
    assert "su:" not in logs
    assert "temper-trial" not in logs
    found = {probe.name: probe for probe in before}
    assert found["password-change"].asked
    assert found["password-change"].detail == (
        "root sets a password; its owner changes it; an expired one is changed at the next login; "
        "a password of four characters is refused"
    )
    assert "sshd lets opsadmin in, the right password being given" in found["password-login"].holds
    assert found["sudo-rights"].weak == ("temper: (ALL) ALL without a password",)
    assert set(found["sudo-rights"].holds) == {"temper: (ALL) ALL", "opsadmin: (ALL:ALL) ALL"}
    assert found["become"].holds == ("su from root to root", "su from root to temper")


@pytest.mark.parametrize(("harm", "breaks"), HARMS, ids=[f"{n} {harm[:40]}" for n, (harm, _) in enumerate(HARMS)])
def test_what_a_change_breaks_is_noticed(target, before, broken, harm, breaks):
    broken(breaks)
    now = _health(target)
    lost = [
        found for probe in now if (found := find_first_harm([one for one in before if one.name == probe.name], [probe]))
    ]
    assert any(one.startswith(harm) for one in lost), lost


@pytest.mark.parametrize(
    "tidies",
    [
        "sed -i 's/ nullok//' /etc/pam.d/common-auth",
        "sed -i '1i # a comment' /etc/pam.d/common-auth /etc/sudoers",
        "echo 'Defaults use_pty' >/etc/sudoers.d/site; chmod 440 /etc/sudoers.d/site",
        "echo 'typeset -xr TMOUT=600' >/etc/profile.d/tmout.sh",
        "sed -i '/pam_unix.so/i auth required pam_faillock.so preauth' /etc/pam.d/common-auth",
        "sed -i 's/yescrypt/sha512 remember=5/' /etc/pam.d/common-password",
        "printf 'space_left = 1%%\\nspace_left_action = email\\ndisk_full_action = halt\\n' >/etc/audit/auditd.conf",
        "echo 'PermitEmptyPasswords no' >>/etc/ssh/sshd_config",
    ],
)
def test_an_honest_change_raises_no_alarm(target, before, broken, tidies):
    broken(tidies)
    assert find_first_harm(before, _health(target)) is None


MEMBERS = """groupadd -f wheel; usermod -aG wheel opsadmin
printf 'deploy:Temper-test-1x\nopsadmin:Temper-test-1x\n' | chpasswd"""
WHEEL_ONLY = r"""sed -i 's/^# *auth *required *pam_wheel.so$/auth required pam_wheel.so use_uid/' /etc/pam.d/su
grep -q '^auth required pam_wheel' /etc/pam.d/su"""
SU = "echo Temper-test-1x | setpriv --reuid={0} --regid=users --init-groups su {1} -c 'echo in' 2>/dev/null; true"


def test_su_that_asks_for_wheel_lets_in_its_members_and_root_and_no_probe_is_worse(target, machine, broken):
    broken(MEMBERS)
    before = _health(target)
    broken(WHEEL_ONLY)
    met = {who: "in\n" in _inside(machine, SU.format(*who)) for who in (("opsadmin", "deploy"), ("deploy", "opsadmin"))}
    assert met == {("opsadmin", "deploy"): True, ("deploy", "opsadmin"): False}
    assert _inside(machine, "su deploy -c 'echo in'") == "in\n"
    assert find_first_harm(before, _health(target)) is None


COUNTS_FAILURES = f"""sed -i -e '/pam_unix.so/i auth required pam_faillock.so preauth' \\
  -e '/pam_unix.so/a auth [default=die] pam_faillock.so authfail' {AUTH}
sed -i '1i account required pam_faillock.so' /etc/pam.d/common-account"""
MISTYPED = "echo wrong | setpriv --reuid=65534 --regid=65534 --clear-groups su {} -c true 2>&1; true"


def test_what_libpam_counts_of_failed_logins_is_read_and_not_written(target, machine, broken):
    """Each real login touches the tally of its account; none of that makes the host one that is asked anew."""
    broken(COUNTS_FAILURES)
    broken(f"rm -rf /run/faillock; {MISTYPED.format('opsadmin')}; {MISTYPED.format('temper')}")
    tally = "ls -ln --full-time /run/faillock/opsadmin; sha256sum /run/faillock/opsadmin"
    was = _inside(machine, tally)
    first = _health(target)
    state = target._known.logins.space_separated_states.split()[-1]
    assert _health(target) == first
    assert target._known.logins.space_separated_states.split()[-1] == state
    assert _inside(machine, tally) == was
    broken(f"{MISTYPED.format('opsadmin')}; {MISTYPED.format('opsadmin')}")
    locked = {probe.name: probe for probe in _health(target)}["password-login"]
    assert "login lets opsadmin in, the right password being given" not in locked.holds


PASSWORDS = "/etc/pam.d/common-password"


@pytest.mark.parametrize(
    ("detail", "breaks"),
    [
        # The vendor's own remediation left a host so.
        ("root cannot set a password: ", FIRST.format("password required pam_pwquality.so", PASSWORDS)),
        ("root cannot set a password: ", FIRST.format("password requisite pam_deny.so", PASSWORDS)),
        ("root cannot set a password: ", f"sed -i 's/pam_unix.so/pam_unix.so use_authtok/' {PASSWORDS}"),
        (
            "root cannot set a password: ",
            FIRST.format("password requisite pam_pwhistory.so use_authtok remember=5", PASSWORDS),
        ),
        # pam_permit.so below it accepts: passwd reports success, and nothing is stored.
        ("root cannot set a password: ", f"sed -i '/pam_unix.so/d;s/pam_deny.so/pam_permit.so/' {PASSWORDS}"),
        ("its owner cannot change a password: ", FIRST.format("password required pam_rootok.so", PASSWORDS)),
        ("an expired password cannot be changed: ", FIRST.format("password requisite pam_deny.so", "/etc/pam.d/login")),
    ],
)
def test_a_stack_that_sets_no_password_is_told_by_a_throwaway_account(target, before, broken, detail, breaks):
    broken(breaks)
    now = {probe.name: probe for probe in _health(target)}
    assert now["password-change"].detail.startswith(detail)
    assert not now["password-change"].ok


def test_a_stack_that_takes_short_passwords_is_weaker_than_before(target, before, broken):
    broken(f"sed -i 's/obscure/minlen=1/' {PASSWORDS}")
    assert "password-change: new: a password of four characters is accepted" in find_first_harm(before, _health(target))


STACKS = [
    "auth optional pam_env.so",
    "auth optional pam_env.so \\",
    "auth optional pam_env.so \\ #",
    "# a comment \\",
    "\\ #",
    "auth requisite pam_deny.so",
    "auth [success=2 default=ignore] pam_permit.so",
    "auth [success=done default=ignore] pam_succeed_if.so user = opsadmin quiet",
    "auth required pam_succeed_if.so user != opsadmin quiet",
    "auth required pam_faillock.so preauth",
    "auth required pam_nowhere.so",
]
TYPED = """echo 'opsadmin:Temper-test-1x' | chpasswd
echo Temper-test-1x | timeout 20 setpriv --reuid=65534 --regid=65534 --clear-groups su opsadmin -c 'echo in' 2>/dev/null
true"""


@pytest.mark.parametrize("line", STACKS)
def test_what_libpam_says_of_the_stacks_is_what_a_typed_password_meets(target, machine, broken, line):
    """The same stack, gone through by our question and by su with the account's own password."""
    broken(f"printf '%s\\n' '{line}' | cat - {AUTH} >/var/tmp/line; cp /var/tmp/line {AUTH}")
    met = "in\n" in _inside(machine, TYPED)
    (found,) = [probe for probe in _health(target) if probe.name == "password-login"]
    let_in = "login lets opsadmin in, the right password being given" in found.holds
    assert (let_in or found.detail.startswith("with a wrong password everybody is let in")) is met


def test_a_machine_made_anew_has_the_modes_and_owners_that_debian_gives(machine):
    shape = "%m %U %G %y /%P\\n"
    machine.reset()
    machine.reset()
    base = f"bases/{machine.base_folder.name}"
    own = _listed(
        _run(build_namespace_command(machine.base_folder.parent.parent, "find", base, "-xdev", "-printf", shape))
    )
    made = _listed(_inside(machine, f"find / -xdev -printf '{shape}'"))
    there = {path for path in own.keys() & made.keys() if not path.startswith(("/proc", "/dev", "/run", "/sys"))}
    assert len(there) > 5000
    assert {path: made[path] for path in there if made[path] != own[path]} == {}


def _listed(text):
    return {path: rights for rights, _, path in (line.rpartition(" ") for line in text.splitlines())}


def _run(command):
    return asyncio.run(_ran(command))


async def _ran(command):
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    return (await process.communicate())[0].decode()
