"""What leaves a host: what is judged, and what judges and probes ask for. Of the rest, digests that it makes itself."""

import pytest

from app.events.event_field_types import SetOption
from app.targets.files_that_roles_may_see import explain_withholding
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.file_digest_baseline import take_host_baseline
from app.targets.ssh.remote_tree import RemoteTree
from app.targets.ssh.ssh_health_probes import read_host_logs
from tests.secretive import SECRETS, planted

SSHD = "/etc/ssh/sshd_config"
NO_X11 = SetOption(path=SSHD, key="X11Forwarding", value="no")


class Tapped(SshConnection):
    """Keeps every byte that came over it."""

    heard = b""

    async def _run_script(self, *given, **named):
        answer = await super()._run_script(*given, **named)
        self.heard += answer.out + answer.err.encode()
        return answer


@pytest.fixture
def tapped(host, tmp_path):
    (tmp_path / "known").write_text(host.known_host)
    line = Tapped(host.endpoint(), tmp_path / "known")
    yield line
    line.close()


def test_nothing_that_nobody_judges_comes_over_the_line(host, tapped):
    canaries = planted(host.root)
    tree = RemoteTree(tapped)
    tree.set_rule_paths_to_fetch([path for path, _, _ in SECRETS])
    held = tree.refresh_whole_snapshot()
    baseline = take_host_baseline(tapped, held)
    read_host_logs(tapped, 12)
    assert held.read(SSHD)
    assert b"PermitRootLogin" in tapped.heard
    assert "/etc/wireguard/wg0.conf" in baseline.entries
    assert len(canaries) >= 20
    assert [canary for canary in canaries if canary.encode() in tapped.heard] == []


def test_what_changes_in_a_file_that_is_not_read_is_drift_all_the_same(host, opened):
    (host.root / "etc/wireguard").mkdir()
    key = host.root / "etc/wireguard/wg0.conf"
    key.write_text("PrivateKey = one\n")
    key.chmod(0o600)
    target = opened()
    target.prepare()
    assert target.describe_drift(()) == ()
    key.write_text("PrivateKey = two\n")
    assert target.describe_drift(()) == ("the content of /etc/wireguard/wg0.conf changed, and no action did that",)
    key.chmod(0o644)
    (host.root / "etc/new").write_text("x")
    found = target.describe_drift(())
    assert any(sentence.startswith("/etc/wireguard/wg0.conf has mode 0644") for sentence in found)
    assert any("no action made: /etc/new" in sentence for sentence in found)


def test_a_change_that_was_announced_is_no_drift_and_another_at_its_place_is(host, opened):
    target = opened()
    target.prepare()
    done = target.apply("one", [NO_X11], frozenset({SSHD}))
    assert target.describe_drift(done.changes) == ()
    with (host.root / SSHD[1:]).open("a") as file:
        file.write("# and more\n")
    assert target.describe_drift(done.changes) == (f"{SSHD} is not what the change made of it",)
    target.roll_back("one")


def test_what_an_include_names_is_fetched_and_judged_and_not_told(host, opened):
    (host.root / "srv").mkdir(exist_ok=True)
    (host.root / "srv/ssh.conf").write_text("PermitRootLogin maybe\n")
    with (host.root / SSHD[1:]).open("a") as file:
        file.write("Include /srv/*.conf\n")
    target = opened()
    target.prepare()
    probes = {probe.name: probe for probe in target.check_health()}
    assert "/srv/ssh.conf line 1" in probes["sshd-config"].detail
    assert target.files.read("/srv/ssh.conf") is not None
    assert explain_withholding("/srv/ssh.conf", target.files) == "not shown: this rule has no need of it"


def test_keys_in_a_home_of_its_own_are_looked_for(host, opened):
    home = host.root / "var/lib/svc-backup"
    (host.root / "etc/mission/backup.conf").write_text("[backup]\nlogin = svc-backup\n")
    target = opened()
    target.prepare()
    assert (home / ".ssh/authorized_keys").is_file()
    probes = {probe.name: probe for probe in target.check_health()}
    assert probes["backup-login"].ok, probes["backup-login"].detail


def test_what_a_rule_names_is_read_where_everybody_may_and_nowhere_else(host, opened):
    (host.root / "etc/shells").write_text("/bin/sh\n")
    for name, mode in (("open.conf", 0o644), ("closed.conf", 0o600)):
        (host.root / "etc" / name).write_text("setting = 1\n")
        (host.root / "etc" / name).chmod(mode)
    target = opened()
    target.set_rule_paths_to_fetch(("/etc/open.conf", "/etc/closed.conf", "/etc/nowhere.conf"))
    target.prepare()
    assert target.files.read("/etc/open.conf") == b"setting = 1\n"
    assert target.files.read("/etc/closed.conf") is None
    assert target.files.read("/etc/nowhere.conf") is None


def test_a_folder_without_a_file_is_known_to_be_there(host, opened):
    (host.root / "etc/modprobe.d").mkdir(exist_ok=True)
    target = opened()
    target.prepare()
    assert "/etc/modprobe.d" in target.files.entries
    assert target.files.list_missing_folders("/etc/modprobe.d/new.conf") == []


def test_a_file_too_large_to_be_configuration_is_not_unpacked(host, opened):
    (host.root / "etc/profile.d").mkdir(exist_ok=True)
    with (host.root / "etc/profile.d/huge.sh").open("wb") as file:
        file.truncate(20 * 1024 * 1024)
    target = opened()
    target.prepare()
    assert target.files.read("/etc/profile.d/huge.sh") is None
    assert target.files.read(SSHD)


def test_a_folder_that_a_change_names_is_asked_for_without_its_content(host, tapped):
    (host.root / "opt/vendor/bin").mkdir(parents=True)
    (host.root / "opt/vendor/bin/tool").write_text("canary-of-a-tool")
    (host.root / "opt/link").symlink_to("vendor")
    tree = RemoteTree(tapped)
    tree.refresh_whole_snapshot()
    assert tree.is_folder("/opt/vendor/bin")
    assert tree.is_folder("/opt/link/bin")
    assert not tree.is_folder("/opt/vendor/bin/tool")
    assert not tree.is_folder("/opt/nosuch")
    assert not tree.is_folder("/opt/*")
    assert b"canary-of-a-tool" not in tapped.heard
    assert tree.refresh_whole_snapshot().is_folder("/opt/vendor/bin")


def test_what_is_only_looked_at_is_fetched_once_and_what_follows_sees_the_host_as_it_is(host, tapped):
    tree = RemoteTree(tapped)
    with tree.share_snapshot():
        first = tree.refresh_whole_snapshot()
        (host.root / "etc/ssh/sshd_config").write_text("PermitRootLogin no\n")
        tapped.heard = b""
        assert tree.refresh_whole_snapshot() is first
        assert tapped.heard == b""
    assert tree.refresh_whole_snapshot().read(SSHD) == b"PermitRootLogin no\n"
