"""What a host says of itself, made into probes: its words are rows, and hostile ones are no more than that."""

import os
import subprocess
from types import SimpleNamespace

import pytest

from app.loop.harm_seen_by_probes import find_first_harm
from app.targets.host_accounts import read_host_accounts
from app.targets.ssh.health_probes_by_host_programs import (
    KnownAnswers,
    build_probes,
    probe_programs_and_disk,
    read_password_change_result,
)
from app.targets.ssh.host_script_output import parse_host_report
from app.targets.ssh.host_shell import ScriptResult
from app.targets.ssh.shell_script import read_script_part
from tests.targets.hosts import host

FINE = [
    "sshd\t0\t",
    "visudo\t0\t/etc/sudoers: parsed OK",
    "pam\t0\t",
    "sudo\topsadmin\tcode 0",
    "sudo\topsadmin\tUser opsadmin may run the following commands on web:",
    "sudo\topsadmin\tSudoers entry:",
    "sudo\topsadmin\t    RunAsUsers: ALL",
    "sudo\topsadmin\t\tALL",
    "boot\t0\tmulti-user.target",
    "masked\tall\tcode 0",
    "masked\tall\tctrl-alt-del.target",
    "failed\tall\tcode 0",
    "failed\tall\tnoisy.service loaded failed failed Noisy",
    "fstab\t0\tabc123",
    "policy\tthere\ttargeted",
    "selinux\t0\tEnforcing",
    "denied\tall\tcode 0",
    "denied\tall\tlogrotate: read on dir var_t",
    "audit\tall\tcode 0",
    "audit\tall\tenabled 1",
    "audit\tall\tfailure 1",
    "become\troot\tin",
    "become\ttemper\tin",
    "success\tsshd opsadmin\tin",
    "success\tlogin opsadmin\tin",
    "auth_err\tsshd opsadmin\t1 su: Authentication failure",
]

TRIED = ["password\troot\tin", "password\towner\tin", "password\tshort\t1 it is too short", "password\taged\tin"]


def of(rows):
    return build_probes(parse_host_report(rows), read_host_accounts(host()), ["opsadmin"])


def swapped(old, new):
    assert any(old in row for row in FINE)
    return [row.replace(old, new) for row in FINE]


def without(start):
    return [row for row in FINE if not row.startswith(start)]


def test_a_host_in_order_is_fine_and_holds_what_it_has():
    found = {probe.name: probe for probe in of(FINE)}
    assert [name for name, probe in found.items() if not probe.ok] == []
    assert found["sudo-rights"].holds == ("opsadmin: (ALL) ALL",)
    assert found["next-boot"].holds == ("/etc/fstab is abc123",)
    assert found["next-boot"].weak == ("ctrl-alt-del.target masked",)
    assert found["failed-units"].weak == ("noisy.service failed",)
    assert found["become"].holds == ("su from root to root", "su from root to temper")
    assert find_first_harm(of(FINE), of(FINE)) is None


def test_a_failed_unit_that_rolls_back_is_no_harm_of_the_change():
    assert find_first_harm(of(FINE), of([*FINE, "failed\tall\ttemper-undo-reboot-1.service loaded failed"])) is None


@pytest.mark.parametrize(
    ("rows", "harm"),
    [
        (swapped("sshd\t0\t", "sshd\t255\tbad line 3"), "sshd-starts: sshd refuses its files: bad line 3"),
        (swapped("visudo\t0", "visudo\t1"), "visudo: visudo refuses its files"),
        (swapped("pam\t0\t", "pam\t16\t pam_nowhere.so"), "pam-modules: /etc/pam.d names what is not installed"),
        (swapped("\t\tALL", "\t\t/bin/ls"), "sudo-rights: no longer: opsadmin: (ALL) ALL"),
        (without("sudo"), "sudo-rights: sudo does not say what opsadmin may"),
        (swapped("    RunAsUsers: ALL", "    Options: !authenticate"), "sudo-rights: no longer: opsadmin: (ALL) ALL"),
        (swapped("multi-user.target", "rescue.target"), "next-boot: the next boot goes to rescue.target"),
        (swapped("ctrl-alt-del.target", "sshd.service"), "next-boot: the next boot leaves out sshd"),
        (swapped("abc123", "def456"), "next-boot: no longer: /etc/fstab is abc123"),
        ([*FINE, "failed\tall\tchronyd.service loaded failed"], "failed-units: new: chronyd.service failed"),
        (
            swapped("policy\tthere\ttargeted", "policy\tabsent\tmls"),
            "selinux-boot: the next boot loads the SELinux policy",
        ),
        (swapped("Enforcing", "Permissive"), "selinux: no longer: SELinux is Enforcing"),
        (
            [*FINE, "denied\tall\tsshd: open on file user_home_t"],
            "selinux-denials: new: denied sshd: open on file user_home_t",
        ),
        (swapped("enabled 1", "enabled 0"), "audit: no longer: the kernel records"),
        (
            [*swapped("failure 1", "failure 2"), "audit\tall\tbacklog_wait_time 0"],
            "audit: the kernel stops at the first",
        ),
        (swapped("become\ttemper\tin", "become\ttemper\t1 su: Module is unknown"), "become: su from root fails"),
        (swapped("become\ttemper\tin", "become\ttemper\t1 su: expired"), "become: no longer: su from root to temper"),
        (swapped("sshd opsadmin\tin", "sshd opsadmin\t1 su: no"), "password-login: no longer: sshd lets opsadmin in"),
        (
            swapped("opsadmin\tin", "opsadmin\t1 su: Permission denied"),
            "password-login: nobody is let in with the right",
        ),
        (
            swapped("1 su: Authentication failure", "in"),
            "password-login: with a wrong password everybody is let in: sshd",
        ),
        (
            swapped("sshd opsadmin\tin", "sshd opsadmin\t1 su: Module is unknown"),
            "password-login: a stack cannot be gone",
        ),
        (without("success"), "password-login: it can no longer be asked"),
    ],
)
def test_what_is_worse_than_at_the_beginning_is_harm(rows, harm):
    assert find_first_harm(of(FINE), of(rows)).startswith(harm)


@pytest.mark.parametrize(
    "rows",
    [
        without("boot"),
        ["doors\tno\tthe host allows no mount namespace", *without("success")],
        ["sshd\t127\tnot found", "visudo\t127\t", "sudo\topsadmin\tcode 127"],
        ["no row", "\t\t", "fill\tmany\tnone", "audit\tall\tcode 0", "audit\tall\tenabled", "success\tsshd\tin", *FINE],
    ],
)
def test_what_cannot_be_known_is_no_alarm(rows):
    assert [probe for probe in of(rows) if not probe.ok and probe.name != "sudo-rights"] == []


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        (swapped("sshd\t0\t", "sshd\t127\tnot found"), "sshd-starts"),
        (swapped("visudo\t0", "visudo\t127"), "visudo"),
        (swapped("opsadmin\tcode 0", "opsadmin\tcode 127"), "sudo-rights"),
        (swapped("failed\tall\tcode 0", "failed\tall\tcode 1"), "failed-units"),
        (without("selinux"), "selinux"),
        (swapped("denied\tall\tcode 0", "denied\tall\tcode 1"), "selinux-denials"),
        (without("audit"), "audit"),
        (without("become"), "become"),
        (["doors\tno\tthe host allows no mount namespace", *without("success")], "password-login"),
        (without("success"), "password-login"),
    ],
)
def test_a_probe_that_the_host_could_not_be_asked_is_marked(rows, name):
    assert [probe.name for probe in of(FINE) if probe.asked is False] == []
    assert [probe.name for probe in of(rows) if probe.asked is False] == [name]


def test_a_password_that_nobody_can_type_is_no_right():
    rows = [row.replace("opsadmin", "deploy") for row in FINE]
    asks = build_probes(parse_host_report(rows), read_host_accounts(host()), ["deploy"])
    assert next(probe for probe in asks if probe.name == "sudo-rights").holds == ()


def trial(*rows):
    return read_password_change_result(parse_host_report(rows))


def test_a_password_that_can_be_changed_in_every_way_is_fine():
    done = "root sets a password; its owner changes it; an expired one is changed at the next login; "
    strict, lax = trial(*TRIED), trial(*(row.replace("1 it is too short", "in") for row in TRIED))
    assert (strict.name, strict.ok, strict.asked, strict.weak) == ("password-change", True, True, ())
    assert strict.detail == f"{done}a password of four characters is refused"
    assert (lax.ok, lax.weak) == (True, ("a password of four characters is accepted",))
    assert find_first_harm((strict,), (lax,)) == "password-change: new: a password of four characters is accepted"
    assert find_first_harm((lax,), (strict,)) is None


@pytest.mark.parametrize(
    ("step", "detail"),
    [
        ("root", "root cannot set a password: passwd: Module is unknown"),
        ("owner", "its owner cannot change a password: passwd: Module is unknown"),
        ("aged", "an expired password cannot be changed: passwd: Module is unknown"),
    ],
)
def test_the_step_that_fails_is_told_in_the_hosts_words(step, detail):
    failed = trial(*(row.replace(f"{step}\tin", f"{step}\t10 passwd: Module is unknown ") for row in TRIED))
    assert (failed.ok, failed.asked, failed.detail) == (False, True, detail)


@pytest.mark.parametrize(
    ("rows", "detail"),
    [
        (["password\tnone\tthe host allows no mount namespace"], "not asked: the host allows no mount namespace"),
        ([TRIED[0], "password\tnone\tthis fails on a plain stack, too"], "not asked: this fails on a plain stack, too"),
        (TRIED[:2], "not asked: the host reports nothing about aged, short"),
        ([], "not asked: the host reports nothing about root, owner, aged, short"),
    ],
)
def test_a_trial_that_could_not_be_made_proves_nothing(rows, detail):
    unasked = trial(*rows)
    assert (unasked.ok, unasked.asked, unasked.detail) == (True, False, detail)
    assert find_first_harm((unasked,), (unasked,)) is None
    assert find_first_harm((trial(*TRIED),), (unasked,)) == f"password-change: it can no longer be asked: {detail}"


class SaysInTurn:
    """A line on which `examine` answers with the next of `looks`, and `password` with the next of `tries`."""

    end = SimpleNamespace(user="temper", watched=())

    def __init__(self, *looks, tries=(TRIED,)):
        self.looks, self.tries = list(looks), list(tries)

    def run(self, name, *_names, seconds):
        assert seconds
        answers = {"examine": self.looks, "password": self.tries}[name]
        return ScriptResult(0, "\n".join(answers.pop(0)).encode(), "")


def test_a_password_that_a_slow_host_could_not_try_in_time_is_tried_once_more():
    slow = ["password\tnone\tit took too long"]
    once, twice = SaysInTurn(FINE, tries=(slow, TRIED)), SaysInTurn(FINE, tries=(slow, slow, TRIED))
    tried, untried = (probe_programs_and_disk(line, host(), KnownAnswers())[0][-1] for line in (once, twice))
    assert (tried.name, tried.asked, once.tries) == ("password-change", True, [])
    assert (untried.asked, untried.detail, twice.tries) == (False, "not asked: it took too long", [TRIED])


@pytest.mark.parametrize(
    ("word", "name"), [("masked", "next-boot"), ("failed", "failed-units"), ("denied", "selinux-denials")]
)
@pytest.mark.parametrize("status", [124, 137])
def test_a_list_that_a_busy_host_cut_short_is_asked_for_once_more(word, name, status):
    cut = [*without(word), f"{word}\tall\tcode {status}"]
    line = SaysInTurn(cut, FINE)
    found, _ = probe_programs_and_disk(line, host(), KnownAnswers())
    assert next(probe for probe in found if probe.name == name).weak
    assert line.looks == []


@pytest.mark.parametrize("status", [124, 137])
def test_logins_that_a_slow_host_could_not_try_in_time_are_tried_once_more(status):
    line = SaysInTurn([*without("success"), f"doors\tall\tcode {status}"], FINE)
    found, _ = probe_programs_and_disk(line, host(), KnownAnswers())
    assert next(probe for probe in found if probe.name == "password-login").ok
    assert line.looks == []


def test_a_host_that_answers_is_asked_once_and_one_that_never_does_twice():
    once, twice = SaysInTurn(FINE, FINE), SaysInTurn(*[[*without("failed"), "failed\tall\tcode 124"]] * 3)
    probe_programs_and_disk(once, host(), KnownAnswers())
    found, _ = probe_programs_and_disk(twice, host(), KnownAnswers())
    assert (len(once.looks), len(twice.looks)) == (1, 1)
    assert "no failed unit is known" in next(probe for probe in found if probe.name == "failed-units").detail


LIVE = [row for row in FINE if row.startswith(("boot", "masked", "failed", "selinux", "audit"))]
REST = [row for row in FINE if row not in LIVE]


def test_in_a_state_that_the_host_was_in_before_only_what_lives_is_asked():
    known = KnownAnswers()
    line = SaysInTurn([*LIVE, "state\tone\tp1", *REST], [*LIVE, "state\tone\tp1"], tries=[TRIED])
    first, again = probe_programs_and_disk(line, host(), known), probe_programs_and_disk(line, host(), known)
    assert again == first
    assert (known.logins.space_separated_states, known.passwords.space_separated_states) == ("one", "p1")
    assert (line.looks, line.tries) == ([], [])
    gone = [row for row in LIVE if not row.startswith("failed")]
    found, _ = probe_programs_and_disk(SaysInTurn([*gone, "state\tone\tp1"], tries=[]), host(), known)
    assert "no failed unit is known" in next(probe for probe in found if probe.name == "failed-units").detail


def test_in_another_state_everything_is_asked_and_the_last_states_are_kept():
    known = KnownAnswers()
    for name in ("one", "two", "three", "one", "four", "five"):
        rest = [] if name in known.logins.space_separated_states.split() else REST
        probe_programs_and_disk(SaysInTurn([*LIVE, f"state\t{name}\tp-{name}", *rest], tries=[TRIED]), host(), known)
    assert known.logins.space_separated_states == "three one four five"
    assert known.passwords.space_separated_states == "p-three p-one p-four p-five"


def test_passwords_are_not_tried_again_in_a_state_that_differs_for_logins_alone():
    known = KnownAnswers()
    line = SaysInTurn([*LIVE, "state\tone\tp1", *REST], [*LIVE, "state\ttwo\tp1", *REST], tries=[TRIED])
    assert probe_programs_and_disk(line, host(), known) == probe_programs_and_disk(line, host(), known)
    assert (line.looks, line.tries) == ([], [])


@pytest.mark.parametrize(
    ("look", "tried", "kept"),
    [
        ([*LIVE, *REST], TRIED, ("", "")),
        ([*LIVE, "state\t\t", *REST], TRIED, ("", "")),
        ([*LIVE, "state\tone\tp1", *REST, "doors\tall\tcode 124"], TRIED, ("", "p1")),
        ([*LIVE, "state\tone\tp1", *REST], ["password\tnone\tit took too long"], ("one", "")),
    ],
    ids=["no-state", "no-digest", "cut-short", "late"],
)
def test_an_answer_that_is_not_whole_is_not_kept(look, tried, kept):
    known = KnownAnswers()
    probe_programs_and_disk(SaysInTurn(look, look, tries=[tried, tried]), host(), known)
    assert (known.logins.space_separated_states, known.passwords.space_separated_states) == kept


def state_of(target, known=""):
    said = target.line.run("examine", known, "", "", "").report
    return [name for name, _ in said.get_rows("state")], [word for word, *_ in said.rows][-1]


def passwords_of(target):
    return [words for _, words in target.line.run("examine", "", "", "", "").report.get_rows("state")]


def test_the_state_of_a_host_is_that_of_its_files_kernel_settings_aside(host, opened):
    target, pam = opened(), host.root / "etc/pam.d/sshd"
    (host.root / "etc/systemd/system").mkdir(parents=True, exist_ok=True)
    (before,), _ = state_of(target)
    assert len(before) == 64
    assert state_of(target, f"other {before}") == ([before], "state")
    (host.root / "etc/sysctl.d").mkdir(exist_ok=True)
    (host.root / "etc/sysctl.d/90-new.conf").write_text("kernel.sysrq = 0\n")
    (host.root / "etc/systemd/system/temper-undo-1.service").write_text("")
    assert state_of(target)[0] == [before]
    was, mode = pam.read_text(), pam.stat().st_mode
    pam.write_text(f"{was}# more\n")
    (changed,), last = state_of(target, before)
    assert changed != before
    assert last != "state"
    pam.unlink()
    pam.write_text(was)
    pam.chmod(mode)
    assert state_of(target)[0] == [before]
    pam.chmod(0o600)
    assert state_of(target)[0] not in ([before], [changed])


def test_a_login_that_only_touches_a_tally_leaves_the_state_as_it_was_and_a_counted_failure_does_not(host, opened):
    target, tallies = opened(), host.root / "var/lib/faillock"
    tallies.mkdir(parents=True, exist_ok=True)
    (tallies / "temper").write_bytes(b"one failure")
    before, _ = state_of(target)
    os.utime(tallies / "temper", (1, 1))
    (tallies / "root").write_bytes(b"")
    assert state_of(target)[0] == before
    (tallies / "temper").write_bytes(b"two failures")
    assert state_of(target)[0] != before


def test_what_selinux_only_would_have_denied_is_told_and_is_no_weakness():
    found, _ = probe_programs_and_disk(
        SaysInTurn([*FINE, "permitted\tall\tsshd: link on key unconfined_t"]), host(), KnownAnswers()
    )
    before, _ = probe_programs_and_disk(SaysInTurn(FINE), host(), KnownAnswers())
    probe = next(one for one in found if one.name == "selinux-denials")
    assert "in permissive mode it would have denied: sshd: link on key unconfined_t" in probe.detail
    assert find_first_harm(before, found) is None


AVC = 'type=AVC msg=audit(1.0:{}): avc:  denied  {{ {} }} for  pid=8 comm="{}" scontext=u:r:a_t:s0 tcontext=u:{}'
CALL = "type=SYSCALL msg=audit(1.0:7): syscall=9 success=no ppid=1 pid=8 auid={} uid=0 ses=3 comm=grep key=(null)"
ITSELF = AVC.format(7, "execmem", "grep", "r:unconfined_t:s0 tclass=process permissive=0")
OTHERS = (
    *("----", AVC.format(8, "open", "sshd", "o:user_home_t:s0 tclass=file permissive=0")),
    *("----", AVC.format(9, "start", "systemd", "o:init_t:s0 tclass=service permissive=1")),
)


@pytest.mark.parametrize(
    ("ours", "grep"), [("1000", "1000"), ("1000", "10001"), ("4294967295", "4294967295"), ("", "1000")]
)
def test_what_selinux_denies_a_script_of_ours_is_no_harm_that_a_change_did(tmp_path, ours, grep):
    (tmp_path / "loginuid").write_text(ours)
    records = ("----", "time->Sat", CALL.format(grep), ITSELF, *OTHERS)
    (tmp_path / "ausearch").write_text("#!/bin/sh\ncat <<'END'\n{}\nEND\n".format("\n".join(records)))
    (tmp_path / "ausearch").chmod(0o755)
    text = read_script_part("denials").replace("/proc/self/loginuid", str(tmp_path / "loginuid"))
    script = f"set -u\nPATH={tmp_path}:$PATH\nrow() {{ printf '%s|' \"$*\"; }}\n{text}\ndenials"
    said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    counted = "" if ours == grep == "1000" else "denied all grep: execmem on process unconfined_t|"
    others = "denied all sshd: open on file user_home_t|permitted all systemd: start on service init_t|"
    assert said.stdout == f"denied all code 0|{counted}{others}"


def test_the_state_of_passwords_is_without_the_files_of_sshd_and_sudo(host, opened):
    target = opened()
    before, logins = passwords_of(target), state_of(target)[0]
    assert len(before[0]) == 64
    (host.root / "etc/ssh/sshd_config.d").mkdir(parents=True, exist_ok=True)
    (host.root / "etc/ssh/sshd_config.d/90-new.conf").write_text("MaxAuthTries 4\n")
    assert (passwords_of(target), state_of(target)[0] == logins) == (before, False)
    (host.root / "etc/login.defs").write_text("PASS_MIN_DAYS 1\n")
    assert passwords_of(target) != before


def test_what_no_login_reads_leaves_the_state_as_it_is(host, opened):
    target = opened()
    (host.root / "etc/audit").mkdir(exist_ok=True)
    (host.root / "etc/default").mkdir(exist_ok=True)
    before, passwords = state_of(target)[0], passwords_of(target)
    (host.root / "etc/audit/rules.d").mkdir(exist_ok=True)
    (host.root / "etc/audit/rules.d/50-time.rules").write_text("-w /etc/localtime -p wa -k time\n")
    (host.root / "etc/default/grub").write_text('GRUB_CMDLINE_LINUX="pti=on"\n')
    (host.root / "etc/issue.d").mkdir()
    (host.root / "etc/issue.d/notice.issue").write_text("Authorized use only.\n")
    (host.root / "etc/chrony.conf").write_text("server time.example.com\n")
    assert (state_of(target)[0], passwords_of(target)) == (before, passwords)


def test_a_query_of_rpm_leaves_the_state_and_a_changed_package_does_not(host, opened):
    target, folder = opened(), host.root / "var/lib/rpm"
    folder.mkdir(parents=True)
    for name, text in {"rpmdb.sqlite": "packages", "rpmdb.sqlite-wal": "", "rpmdb.sqlite-shm": "1"}.items():
        (folder / name).write_text(text)
    before, passwords = state_of(target)[0], passwords_of(target)
    (folder / "rpmdb.sqlite-shm").write_text("2")
    (folder / "rpmdb.sqlite-wal").chmod(0o600)
    (folder / ".rpm.lock").write_text("")
    assert (state_of(target)[0], passwords_of(target)) == (before, passwords)
    (folder / "rpmdb.sqlite-wal").write_text("a package more")
    written = state_of(target)[0], passwords_of(target)
    assert [one == other for one, other in zip(written, (before, passwords), strict=True)] == [False, False]


def test_a_mount_may_become_stricter_and_none_may_come_or_go(tmp_path):
    text = read_script_part("examine")
    begin = text.index("[ -r /etc/fstab ]")
    lines, table = text[begin : text.index("\nif ", begin)], tmp_path / "fstab"

    def read_table(mounts):
        table.write_text(mounts)
        script = f"row() {{ printf '%s\\n' \"$*\"; }}\n{lines.replace('/etc/fstab', str(table))}"
        return subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout

    home, shared = "/dev/vdb\t/home  ext4 {} 0 2\n", "tmpfs /dev/shm tmpfs defaults,noexec 0 0\n"
    was = read_table(home.format("defaults"))
    assert was.startswith("fstab 0 ")
    assert read_table(home.format("defaults,nodev,noexec") + shared) == was
    assert read_table(home.format("defaults") + shared.replace("shm", "mem")) != was
    assert read_table(home.format("defaults") + shared.replace("noexec", "ro")) != was
    assert read_table("") != was
