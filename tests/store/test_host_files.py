"""A host's folder on two nodes that have no disk in common."""

import pytest

from app.errors import Fenced
from app.store import host_files
from app.store.db import open_database
from app.store.host_files import HostFolders
from app.syntax.files import FileState
from app.targets import registry
from app.targets.disk import Disk
from app.targets.journal import Journal
from app.targets.ssh.endpoint import endpoint

END = endpoint("root@web1", "agent")
CONFIG, BEFORE, AFTER = (
    "/etc/ssh/sshd_config",
    FileState(b"old\n" * 9, 0o600, "root:root"),
    FileState(b"new\n", 0o600, "root:root"),
)


@pytest.fixture
def nodes(tmp_path):
    """Two, each with hosts of its own in a folder of its own."""
    database = open_database(tmp_path / "temper.sqlite")
    yield [(HostFolders(database, hosts), hosts) for hosts in (tmp_path / "one", tmp_path / "other")]
    database.dispose()


def journal(hosts):
    return Journal(hosts / "web1" / "journal", Disk())


def begun(hosts, name="a"):
    (hosts / "web1").mkdir(parents=True, exist_ok=True)
    journal(hosts).begin(name, {CONFIG: BEFORE}, {CONFIG: AFTER}, [])


def test_a_journal_that_one_node_began_is_rolled_back_from_by_another(nodes, monkeypatch):
    monkeypatch.setattr(host_files, "PART", 10)  # the image lies in four parts
    (one, here), (other, there) = nodes
    begun(here)
    one.keep("web1")
    other.bring("web1")
    assert journal(there).pending() == ["a"]
    assert journal(there).before("a") == {CONFIG: BEFORE}
    journal(there).close("a", "undone")
    other.keep("web1")
    one.bring("web1")
    assert (journal(here).pending(), journal(here).mark("a")) == ([], "undone")
    assert not (here / "web1/journal/a/0").exists(), "what is closed keeps no images"


def test_what_was_begun_and_not_kept_was_not_begun(nodes):
    (one, here), _ = nodes
    begun(here)
    one.keep("web1")
    journal(here).close("a", "committed")
    one.keep("web1")
    begun(here, "b")
    one.bring("web1")
    assert (journal(here).pending(), journal(here).mark("a")) == ([], "committed")


def test_who_has_the_host_no_more_keeps_nothing(nodes):
    (one, here), (other, there) = nodes

    def lost(_session):
        raise Fenced("run")

    begun(here)
    with pytest.raises(Fenced):
        one.keep("web1", lost)
    other.bring("web1")
    assert not there.exists()


def test_a_host_is_known_and_forgotten_on_every_node_and_its_journals_stay(nodes):
    (one, here), (other, there) = nodes
    one.catch_up()
    other.catch_up()
    registry.add(here, "web1", END, "web1 ssh-ed25519 AAAA\n", "SHA256:x")
    one.keep_registration("web1")
    begun(here)
    one.keep("web1")
    other.look()
    assert registry.find(there, "web1") == registry.find(here, "web1")
    assert (there / "web1/known_hosts").read_text() == "web1 ssh-ed25519 AAAA\n"
    journal(here).close("a", "undone")
    registry.remove(here, "web1")
    one.keep_registration("web1")
    other.look()
    assert registry.listed(there) == []
    other.bring("web1")
    assert journal(there).mark("a") == "open", "as it was kept last"


def test_the_first_node_brings_its_hosts_along_and_a_late_one_forgets_what_is_gone(nodes):
    (one, here), (other, there) = nodes
    for hosts in (here, there):
        registry.add(hosts, "web1", END, "web1 ssh-ed25519 AAAA\n", "SHA256:x")
    registry.add(there, "old", END, "old ssh-ed25519 AAAA\n", "SHA256:y")
    one.catch_up()
    other.catch_up()
    assert [host.name for host in registry.listed(there)] == ["web1"]
