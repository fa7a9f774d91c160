"""Hosts that were added: what is kept of them, and what is never kept."""

import pytest

from app.errors import BadInput
from app.syntax.host_files_protocol import FileState
from app.targets import host_registry
from app.targets.crash_safe_writes import Disk
from app.targets.host_registry import DisposableMachine, choose_auto_for_fixture_else_review, require_known_host
from app.targets.journal import Journal
from app.targets.ssh.endpoint import parse_endpoint

END = parse_endpoint("root@web1", "agent")
KNOWN = "web1 ssh-ed25519 AAAA\n"


def test_a_host_is_added_found_and_forgotten(tmp_path):
    end = parse_endpoint("root@web1", "agent")
    added = host_registry.register_host(tmp_path, "web1", end, KNOWN, "SHA256:x")
    assert host_registry.list_hosts(tmp_path) == [added] == [host_registry.find_host(tmp_path, "web1")]
    assert (tmp_path / "web1").stat().st_mode & 0o777 == 0o700
    with pytest.raises(BadInput, match="already"):
        host_registry.register_host(tmp_path, "web1", end, KNOWN, "SHA256:x")
    require_known_host("web1", tmp_path)
    assert (choose_auto_for_fixture_else_review("web1"), choose_auto_for_fixture_else_review("fixture")) == (
        "review",
        "auto",
    )
    host_registry.remove_host(tmp_path, "web1")
    assert host_registry.list_hosts(tmp_path) == []
    with pytest.raises(BadInput, match="The hosts are: fixture"):
        require_known_host("web1", tmp_path)
    with pytest.raises(BadInput, match="no added host 'web1'"):
        host_registry.remove_host(tmp_path, "web1")


@pytest.mark.parametrize("name", ["fixture", "", "../x", "Web", "a/b", "a b", ".hidden", "x" * 64])
def test_a_name_is_a_folder_of_its_own(tmp_path, name):
    with pytest.raises(BadInput, match="cannot be a host's name"):
        host_registry.register_host(tmp_path, name, parse_endpoint("root@web1", "agent"), KNOWN, "")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_read_is_named_and_the_advice_can_be_followed(tmp_path):
    end = parse_endpoint("root@web1", "agent")
    host_registry.register_host(tmp_path, "web1", end, KNOWN, "")
    file = tmp_path / "web1" / "host.json"
    file.write_text("{")
    with pytest.raises(BadInput, match=r"host\.json cannot be read.* move it away and add the host again"):
        host_registry.find_host(tmp_path, "web1")
    file.rename(tmp_path / "away")
    host_registry.register_host(tmp_path, "web1", end, KNOWN, "")
    assert [one.name for one in host_registry.list_hosts(tmp_path)] == ["web1"]


@pytest.mark.parametrize(
    ("place", "user", "address", "port"),
    [
        ("root@web1", "root", "web1", 22),
        ("a.b-c@10.0.0.1:2222", "a.b-c", "10.0.0.1", 2222),
        ("root@[::1]:22", "root", "::1", 22),
    ],
)
def test_a_place_is_read(place, user, address, port):
    end = parse_endpoint(place, "agent")
    assert (end.user, end.address, end.port) == (user, address, port)


@pytest.mark.parametrize(
    "place",
    ["web1", "root@", "@web1", "root@-oProxyCommand=x", "root@web1:0", "root@web1:70000", "r oot@x", "root@a;b"],
)
def test_a_place_that_is_none_is_refused(place):
    with pytest.raises(BadInput, match="is not a login"):
        parse_endpoint(place, "agent")


def test_no_secret_is_written_down(tmp_path, monkeypatch):
    monkeypatch.setenv("TEMPER_SSH_WEB1", "hunter2")
    host_registry.register_host(tmp_path, "web1", parse_endpoint("root@web1", "password", "TEMPER_SSH_WEB1"), KNOWN, "")
    written = (tmp_path / "web1" / "host.json").read_text()
    assert "TEMPER_SSH_WEB1" in written
    assert "hunter2" not in written


@pytest.mark.parametrize(
    ("machine", "disposable", "boots"),
    [
        (None, False, True),
        (DisposableMachine("vm", "/x/one"), True, True),
        (DisposableMachine("rootfs", "/x/one"), False, False),
    ],
)
def test_only_a_machine_of_ours_that_boots_is_rebooted_without_asking(tmp_path, machine, disposable, boots):
    host_registry.register_host(tmp_path, "one", END, "", "SHA256:x", machine=machine)
    found = host_registry.find_host(tmp_path, "one")
    assert (found.machine, found.can_reboot_unasked, found.has_own_boot) == (machine, disposable, boots)
    target = host_registry.open_target("one", tmp_path)
    assert target.rebooter.is_disposable == disposable
    target.close()


def test_a_host_of_an_older_version_is_one_that_somebody_depends_on(tmp_path):
    host_registry.register_host(tmp_path, "one", END, "", "SHA256:x")
    file = tmp_path / "one/host.json"
    file.write_text(file.read_text().replace('"machine": null', '"title": ""', 1))
    assert '"machine"' not in file.read_text()
    assert not host_registry.find_host(tmp_path, "one").can_reboot_unasked


def test_a_machine_that_was_reset_gets_nothing_back_from_the_change_that_was_open_before(tmp_path):
    (tmp_path / "boots").mkdir()
    journal, was = Journal(tmp_path / "boots" / "journal", Disk()), FileState(b"a", 0o644, "root:root")
    journal.begin("open", {"/etc/x": was}, {"/etc/x": None}, ())
    journal.begin("kept", {"/etc/y": was}, {"/etc/y": None}, ())
    journal.close("kept", "committed")
    assert host_registry.list_pending_changes(tmp_path, "boots") == ["open"]
    host_registry.forget_changes_undone_by_machine_reset(tmp_path, "boots")
    assert (host_registry.list_pending_changes(tmp_path, "boots"), journal.list_committed()) == ([], [])
    host_registry.forget_changes_undone_by_machine_reset(tmp_path, "new")
