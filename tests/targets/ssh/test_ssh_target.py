"""A host over SSH does with typed actions what the built-in one does, and comes back byte for byte."""

import threading
from functools import partial

import asyncssh
import pytest

from app.errors import ActionFailed, BadInput, EnvironmentUnusable, RollbackFailed
from app.events.event_field_types import Chmod, Reload, ReplaceLine, SetOption, WriteFile
from app.loop.change_execution import look_at_changed_host
from app.syntax.host_files_protocol import FileState
from app.targets.overlay import Overlay
from app.targets.ssh import file_fetch, ssh_health_probes
from app.targets.ssh.endpoint import parse_watched_login
from app.targets.ssh.ssh_target import SshTarget
from tests.targets.test_transaction import foreseen_changes

SSHD = "/etc/ssh/sshd_config"
NO_X11 = SetOption(path=SSHD, key="X11Forwarding", value="no")
DROP_IN = WriteFile(path="/etc/modprobe.d/sctp.conf", content="install sctp /bin/false\n")
PATHS = frozenset({SSHD, DROP_IN.path, "/etc/shadow", "/etc/login.defs"})
ACTIONS = [NO_X11, DROP_IN, SetOption(path="/etc/login.defs", key="UMASK", value="077")]


def test_a_change_is_made_and_taken_back_byte_for_byte(host, opened):
    target = opened()
    target.prepare()
    before, digest = host.everything(), target.compute_digest()
    seen = target.assess_actions(ACTIONS, PATHS)
    foreseen = foreseen_changes(seen, target.files)
    assert (seen.refusals, host.everything()) == ((), before)
    done = target.apply("one", ACTIONS, PATHS, frozenset(), seen)
    assert (done.diff, done.changes) == (seen.diff, foreseen)
    assert "X11Forwarding no" in host.read(SSHD)
    assert host.read(DROP_IN.path) == DROP_IN.content
    assert target.files.read("/etc/login.defs") == b"UMASK\t077\n"
    assert target.describe_drift(done.changes) == ()
    assert len(target.describe_drift(())) == 4  # the new file's folder is one
    assert target.list_pending() == ["one"]
    undone = target.roll_back("one")
    assert (set(undone.paths), undone.differences) == ({one.path for one in done.changes}, ())
    assert (host.everything(), target.compute_digest(), target.list_pending()) == (before, digest, [])
    assert target.roll_back("one").differences == ()


def test_the_entries_that_a_host_boots_by_are_changed_watched_and_taken_back(host, opened):
    entry, old = "/boot/loader/entries/a.conf", "options root=UUID=1 ro $tuned_params"
    for path, text in {
        "boot/grub2/grub.cfg": "insmod blscfg\nblscfg\n",
        "etc/default/grub": 'GRUB_CMDLINE_LINUX="ro"\nGRUB_ENABLE_BLSCFG=true\n',
        entry[1:]: f"title a\nlinux /vmlinuz-5.14\n{old}\n",
    }.items():
        (host.root / path).parent.mkdir(parents=True, exist_ok=True)
        (host.root / path).write_text(text)
    target, before = opened(), host.read(entry)
    target.prepare()
    actions = [ReplaceLine(path=entry, old=old, new=f"{old} audit=1"), Reload(service="grub")]
    change = target.apply("one", actions, frozenset({entry}), frozenset({"boot-entry options audit 1"}))
    assert host.read(entry) == before.replace(old, f"{old} audit=1")
    assert target.describe_drift(change.changes) == ()
    (host.root / entry[1:]).with_name("b.conf").write_text("title b\n")
    assert [sentence.split(":")[0] for sentence in target.describe_drift(change.changes)] == [
        "a new file that no action made"
    ]
    (host.root / entry[1:]).with_name("b.conf").unlink()
    assert target.roll_back("one").differences == ()
    assert host.read(entry) == before
    assert target.describe_drift(()) == ()


def test_modes_and_a_closed_file_are_kept(host, opened):
    target = opened()
    target.prepare()
    before = host.everything()
    shadow = target.files.state("/etc/shadow")
    assert isinstance(shadow, FileState)
    assert (shadow.mode, shadow.owner, b"opsadmin" in shadow.content) == (0, "root:root", True)
    (host.root / "etc/shadow").chmod(0o640)
    target.apply("one", [Chmod(path="/etc/shadow", mode="0000")], PATHS)
    assert (host.root / "etc/shadow").stat().st_mode & 0o777 == 0
    target.commit("one")
    target.commit("one")
    assert host.everything() == before
    assert target.list_pending() == []
    with pytest.raises(ActionFailed, match="committed"):
        target.roll_back("one")
    assert target.describe_drift(()) == ()


def test_what_stays_is_closed_in_both_places_and_keeps_no_images(host, opened):
    target = opened()
    target.prepare()
    target.apply("one", [NO_X11], PATHS)
    with pytest.raises(ActionFailed, match="still open"):
        target.apply("two", [DROP_IN], PATHS)
    target.commit("one")
    there = host.root / "var/lib/temper/journal/one"
    assert {at.name for at in there.iterdir()} >= {"files", "restore", "committed"}
    assert not [at for at in there.iterdir() if at.name.isdigit()]
    assert (host.root / "var/lib/temper").stat().st_mode & 0o777 == 0o700
    target.apply("two", [DROP_IN], PATHS)
    assert target.roll_back("two").differences == ()
    assert "X11Forwarding no" in host.read(SSHD)


def test_the_host_alone_knows_a_change_that_was_made_from_elsewhere(host, opened):
    before = host.everything()
    elsewhere, target = opened("elsewhere"), opened()
    elsewhere.prepare()
    elsewhere.apply("theirs", [NO_X11], PATHS)
    assert target.list_pending() == ["theirs"]
    with pytest.raises(EnvironmentUnusable, match=r"another Temper left.*temper host check web --undo"):
        target.prepare()
    assert target.roll_back("theirs").differences == ()
    assert host.everything() == before
    target.prepare()


def test_a_host_that_lost_its_journal_gets_the_images_that_are_kept_here(host, opened):
    target = opened()
    target.prepare()
    before = host.everything()
    target.apply("one", ACTIONS, PATHS)
    for at in (host.root / "var/lib/temper/journal/one").iterdir():
        at.unlink()
    (host.root / "var/lib/temper/journal/one").rmdir()
    assert target.roll_back("one").differences == ()
    assert host.everything() == before


def test_what_cannot_be_put_back_is_named(host, opened):
    target = opened()
    target.prepare()
    target.apply("one", [NO_X11], PATHS)
    (host.root / "etc/ssh/sshd_config").unlink()
    (host.root / "etc/ssh/sshd_config").mkdir()
    undone = target.roll_back("one")
    assert [one.partition(":")[0] for one in undone.differences] == [SSHD]
    assert target.list_pending() == ["one"]


def test_health_tells_a_new_login_and_what_the_host_itself_says(host, opened):
    target = opened()
    target.prepare()
    names = {probe.name: probe for probe in target.check_health()}
    assert {"agent-login", "agent-sudo", "sshd-starts", "administrator", "sudoers", "accounts"} <= names.keys()
    assert all(names[name].ok for name in ("agent-login", "agent-sudo", "sshd-starts", "sudoers", "accounts"))
    (host.root / "etc/ssh/sshd_config").write_text("PermitRootLogin maybe\n")
    broken = {probe.name: probe for probe in target.check_health()}
    assert not broken["sshd-starts"].ok
    assert "maybe" in broken["sshd-starts"].detail or "PermitRootLogin" in broken["sshd-starts"].detail
    host.stop_listening()
    gone = (target.check_health())[0]
    assert (gone.name, gone.ok) == ("agent-login", False)


def test_logins_are_tried_one_after_the_other_while_the_programs_are_asked(opened, monkeypatch):
    target, together, under_way = opened(), threading.Barrier(2, timeout=30), threading.Lock()
    target.prepare()

    def meet_then(probe, *asked):
        together.wait()
        return probe(*asked)

    def log_in_alone(probe, *asked):
        assert under_way.acquire(blocking=False)
        try:
            return probe(*asked)
        finally:
            under_way.release()

    for name, how in (
        ("probe_health_by_programs_else_files", [meet_then]),
        ("probe_new_login_and_sudo", [meet_then, log_in_alone]),
        ("probe_watched_logins", [log_in_alone]),
    ):
        probe = getattr(ssh_health_probes, name)
        for one in how:
            probe = partial(one, probe)
        monkeypatch.setattr(ssh_health_probes, name, probe)
    assert {"agent-login", "sshd-starts"} <= {probe.name for probe in target.check_health()}


def test_the_files_of_a_changed_host_are_fetched_once_for_its_probes_and_for_what_others_changed(opened, monkeypatch):
    target, fetched, fetch = opened(), [], file_fetch.fetch_patterns
    target.prepare()
    change = target.apply("one", [NO_X11], PATHS)
    monkeypatch.setattr(file_fetch, "fetch_patterns", lambda *asked: (fetched.append(asked), fetch(*asked))[1])
    probes, drift, _, _ = look_at_changed_host(target, change.changes)
    assert (len(fetched), drift, len(probes) > 10) == (1, (), True)
    target.check_health()
    assert len(fetched) == 2


def test_our_own_account_is_protected_whatever_it_is_called(host, opened):
    target = opened()
    target.prepare()
    user = host.endpoint().user
    own = Chmod(path=f"/etc/sudoers.d/{user}", mode="0400")
    (host.root / own.path[1:]).write_text("# a drop-in\n")
    assert [one.clause for one in target.assess_actions([own], frozenset({own.path})).refusals] == [
        "protected identity"
    ]
    with pytest.raises(ActionFailed, match="protected identity"):
        target.apply("one", [own], frozenset({own.path}))
    assert target.list_pending() == []


def test_a_rehearsal_and_facts_come_from_the_hosts_files(host, opened):
    target = opened()
    target.prepare()
    assert Overlay(target.files, target.assess_actions([NO_X11], PATHS).plan.after).read(SSHD).decode() == host.read(
        SSHD
    ).replace("X11Forwarding yes", "X11Forwarding no")
    facts = target.read_facts()
    assert "opsadmin" in facts["administrators"]
    assert (target.simulated, "over SSH" in target.confinement) == (False, True)


def test_a_host_that_is_gone_for_good_halts_a_rollback(host, opened):
    target = opened(patience=-60)  # nobody waits for the timer, which a busy machine might not outlast
    target.prepare()
    target.apply("one", [NO_X11], PATHS)
    host.cut(listener=True)
    with pytest.raises(RollbackFailed, match=r"was cut|does not answer"):
        target.roll_back("one")


def test_a_login_that_is_watched_is_tried_anew_with_its_own_key(host, tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "known_hosts").write_text(host.known_host)
    stranger = tmp_path / "stranger"
    asyncssh.generate_private_key("ssh-ed25519").write_private_key(stranger)
    stranger.chmod(0o600)
    us = host.endpoint()
    for key, let_in in ((host.key, True), (stranger, False)):
        end = host.endpoint(watched=(parse_watched_login(f"{us.user}={key}"),))
        target = SshTarget("web", folder, end, timer=60, patience=5)
        try:
            (probe,) = [one for one in target.check_health() if one.name == f"login-{us.user}"]
        finally:
            target.close()
        assert probe.ok is let_in, probe.detail


@pytest.mark.parametrize("text", ["root", "root=", "=key", "Root=key", "ro ot=key", "root;id=key"])
def test_what_is_no_login_to_watch_is_refused(text):
    with pytest.raises(BadInput, match="write user=FILE"):
        parse_watched_login(text)
