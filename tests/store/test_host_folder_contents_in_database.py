"""A host's folder on two nodes that have no disk in common."""

import pytest
from sqlmodel import Session

from app.errors import LeaseLost
from app.store import host_folder_contents_in_database
from app.store.db import open_and_migrate_database
from app.store.host_folder_contents_in_database import HostFileRow, HostFolders
from app.syntax.host_files_protocol import FileState
from app.targets import host_registry
from app.targets.crash_safe_writes import Disk
from app.targets.journal import Journal
from app.targets.ssh.endpoint import parse_endpoint

END = parse_endpoint("root@web1", "agent")
CONFIG, BEFORE, AFTER = (
    "/etc/ssh/sshd_config",
    FileState(b"old\n" * 9, 0o600, "root:root"),
    FileState(b"new\n", 0o600, "root:root"),
)


@pytest.fixture
def nodes(tmp_path):
    """Two, each with hosts of its own in a folder of its own."""
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    yield [(HostFolders(database, hosts), hosts) for hosts in (tmp_path / "one", tmp_path / "other")]
    database.dispose()


def journal(hosts):
    return Journal(hosts / "web1" / "journal", Disk())


def begun(hosts, name="a"):
    (hosts / "web1").mkdir(parents=True, exist_ok=True)
    journal(hosts).begin(name, {CONFIG: BEFORE}, {CONFIG: AFTER}, [])


def test_a_journal_that_one_node_began_is_rolled_back_from_by_another(nodes, monkeypatch):
    monkeypatch.setattr(host_folder_contents_in_database, "PART", 10)  # the image lies in four parts
    (one, here), (other, there) = nodes
    begun(here)
    one.store_folder("web1")
    other.match_local_folder_to_database("web1")
    assert journal(there).list_pending() == ["a"]
    assert journal(there).read_pre_images("a") == {CONFIG: BEFORE}
    journal(there).close("a", "undone")
    other.store_folder("web1")
    one.match_local_folder_to_database("web1")
    assert (journal(here).list_pending(), journal(here).read_mark("a")) == ([], "undone")
    assert not (here / "web1/journal/a/0").exists(), "what is closed keeps no images"


def test_what_was_begun_and_not_kept_was_not_begun(nodes):
    (one, here), _ = nodes
    begun(here)
    one.store_folder("web1")
    journal(here).close("a", "committed")
    one.store_folder("web1")
    begun(here, "b")
    one.match_local_folder_to_database("web1")
    assert (journal(here).list_pending(), journal(here).read_mark("a")) == ([], "committed")


def test_who_has_the_host_no_more_keeps_nothing(nodes):
    (one, here), (other, there) = nodes

    def lost(_session):
        raise LeaseLost("run")

    begun(here)
    with pytest.raises(LeaseLost):
        one.store_folder("web1", lost)
    other.match_local_folder_to_database("web1")
    assert not there.exists()


def test_a_host_is_known_and_forgotten_on_every_node_and_its_journals_stay(nodes):
    (one, here), (other, there) = nodes
    one.sync_on_start()
    other.sync_on_start()
    host_registry.register_host(here, "web1", END, "web1 ssh-ed25519 AAAA\n", "SHA256:x")
    one.store_registration("web1")
    begun(here)
    one.store_folder("web1")
    other.apply_registrations_of_other_nodes()
    assert host_registry.find_host(there, "web1") == host_registry.find_host(here, "web1")
    assert (there / "web1/known_hosts").read_text() == "web1 ssh-ed25519 AAAA\n"
    journal(here).close("a", "undone")
    host_registry.remove_host(here, "web1")
    one.store_registration("web1")
    other.apply_registrations_of_other_nodes()
    assert host_registry.list_hosts(there) == []
    other.match_local_folder_to_database("web1")
    assert journal(there).read_mark("a") == "open", "as it was kept last"


def test_a_node_brings_along_what_only_it_knows_and_forgets_what_was_forgotten_while_it_was_away(nodes, tmp_path):
    (one, here), (other, there) = nodes
    for name in ("web1", "old"):
        host_registry.register_host(here, name, END, f"{name} ssh-ed25519 AAAA\n", "SHA256:x")
    begun(here)
    host_registry.register_host(there, "db1", END, "db1 ssh-ed25519 AAAA\n", "SHA256:y")
    one.sync_on_start()
    other.sync_on_start()
    assert [host.name for host in host_registry.list_hosts(there)] == ["db1", "old", "web1"]
    host_registry.remove_host(here, "old")
    one.store_registration("old")
    HostFolders(one._database, there).sync_on_start()  # started anew
    assert [host.name for host in host_registry.list_hosts(there)] == ["db1", "web1"]
    other.match_local_folder_to_database("web1")
    assert journal(there).list_pending() == ["a"]


def test_what_the_database_says_is_written_in_the_hosts_folder_and_nowhere_else(nodes, tmp_path):
    (one, _), (other, there) = nodes
    with Session(one._database) as session, session.begin():
        for host, path in (
            ("web1", "../../out"),
            ("web1", "journal/../../out"),
            ("web1", "host.json"),
            ("..", "host.json"),
        ):
            session.add(HostFileRow(host=host, path=path, part=0, digest="x", content=b"{}"))
        session.add(HostFileRow(host="web1", path="known_hosts", part=0, digest="x", content=b"k"))
    other.apply_registrations_of_other_nodes()
    other.match_local_folder_to_database("web1")
    written = sorted(str(at.relative_to(there)) for at in there.rglob("*") if at.is_file())
    assert written == ["web1/host.json", "web1/known_hosts", "web1/shared"]
    assert not [at for at in tmp_path.iterdir() if at.name in ("out", "host.json")]
