import os

import pytest

from app.errors import ActionFailed, EnvironmentUnusable
from app.syntax.host_files_protocol import FileState
from app.targets.crash_safe_writes import Disk
from app.targets.local_tree import LocalTree

FILE = FileState(b"new\n", 0o640, "root:root")


def names_in(folder):
    return sorted(entry.name for entry in folder.iterdir())


@pytest.fixture
def folder(tmp_path):
    etc = tmp_path / "host/root/etc"
    (etc / "ssh").mkdir(parents=True)
    (etc / "ssh/sshd_config").write_text("UsePAM yes\n")
    (tmp_path / "host/owners.json").write_text('{"/etc/ssh/sshd_config": "root:ssh_keys"}')
    return tmp_path / "host"


@pytest.fixture
def tree(folder):
    return LocalTree(folder, Disk())


@pytest.fixture
def outside(tmp_path):
    place = tmp_path / "outside"
    place.mkdir()
    (place / "sshd_config").write_text("theirs\n")
    return place


def test_a_file_has_content_mode_and_owner(tree, folder):
    (folder / "root/etc/ssh/sshd_config").chmod(0o600)
    assert tree.state("/etc/ssh/sshd_config") == FileState(b"UsePAM yes\n", 0o600, "root:ssh_keys")
    assert tree.state("/etc") == FileState(b"", (folder / "root/etc").stat().st_mode & 0o7777, "root:root")
    assert tree.read("/etc") is None
    assert tree.state("/etc/nothing") is None
    assert tree.state("/etc/ssh/sshd_config/below") is None


@pytest.mark.parametrize(
    ("goal", "content"),
    [
        ("sshd_config", b"UsePAM yes\n"),
        ("/etc/ssh/sshd_config", b"UsePAM yes\n"),
        ("../ssh/sshd_config", b"UsePAM yes\n"),
        ("../../../../../../etc/passwd", None),
        ("/../etc/ssh/sshd_config", None),
        ("/etc/hostname", None),
        ("link", None),
    ],
)
def test_links_lead_where_they_would_on_the_host_and_never_out_of_it(tree, folder, goal, content):
    (folder / "root/etc/ssh/link").symlink_to(goal)
    assert tree.read("/etc/ssh/link") == content
    assert tree.link("/etc/ssh/link") == goal


def test_a_path_that_climbs_is_absent(tree):
    assert tree.read("/etc/../etc/ssh/sshd_config") == b"UsePAM yes\n"
    assert tree.read("/../etc/ssh/sshd_config") is None
    assert tree.read("/etc/ssh/sshd_config\0") is None


def test_glob_takes_one_folder_a_star_and_hides_what_is_hidden(tree, folder, outside):
    for name in ("b.conf", "a.conf", ".hidden.conf", "c.txt"):
        (folder / "root/etc/ssh" / name).write_text("")
    (folder / "root/etc/out").symlink_to(outside)
    assert tree.glob("/etc/ssh/*.conf") == ["/etc/ssh/a.conf", "/etc/ssh/b.conf"]
    assert tree.glob("/etc/ssh/.*.conf") == ["/etc/ssh/.hidden.conf"]
    assert tree.glob("/etc/*/a.conf") == ["/etc/ssh/a.conf"]
    assert tree.glob("/etc/ssh/sshd_config") == ["/etc/ssh/sshd_config"]
    assert tree.glob("/etc/out/*") == []
    assert tree.glob("/nowhere/*") == []


def test_a_write_keeps_to_the_path_and_brings_mode_and_owner(tree, folder):
    tree.write("/etc/ssh/sshd_config", FileState(b"new\n", 0o604, "mission:mission"))
    assert tree.state("/etc/ssh/sshd_config") == FileState(b"new\n", 0o604, "mission:mission")
    assert names_in(folder / "root/etc/ssh") == ["sshd_config"]
    tree.remove("/etc/ssh/sshd_config")
    assert names_in(folder / "root/etc/ssh") == []
    assert (folder / "owners.json").read_text() == "{}"


def test_a_folder_that_was_swapped_for_a_link_is_not_followed(tree, folder, outside):
    (folder / "root/etc/ssh").rename(folder / "root/etc/away")
    (folder / "root/etc/ssh").symlink_to(outside)
    for change in (
        lambda: tree.write("/etc/ssh/sshd_config", FILE),
        lambda: tree.remove("/etc/ssh/sshd_config"),
        lambda: tree.require_plain_file_state_or_absence("/etc/ssh/sshd_config"),
        lambda: tree.make_folder("/etc/ssh/new"),
    ):
        with pytest.raises(ActionFailed):
            change()
    assert (outside / "sshd_config").read_text() == "theirs\n"
    assert names_in(outside) == ["sshd_config"]
    assert tree.find_first_link("/etc/ssh/sshd_config") == "/etc/ssh"


def test_a_file_that_was_swapped_for_a_link_is_replaced_not_written_through(tree, folder, outside):
    at = folder / "root/etc/ssh/sshd_config"
    at.unlink()
    at.symlink_to(outside / "sshd_config")
    with pytest.raises(ActionFailed, match="is a link"):
        tree.require_plain_file_state_or_absence("/etc/ssh/sshd_config")
    tree.write("/etc/ssh/sshd_config", FILE)
    assert (outside / "sshd_config").read_text() == "theirs\n"
    assert at.read_bytes() == b"new\n"
    assert not at.is_symlink()


def test_a_temp_file_that_somebody_laid_as_a_trap_is_not_written_through(tree, folder, outside):
    (folder / "root/etc/ssh/.sshd_config.temper-new").symlink_to(outside / "sshd_config")
    tree.write("/etc/ssh/sshd_config", FILE)
    assert (outside / "sshd_config").read_text() == "theirs\n"


def test_a_trap_laid_at_the_last_moment_is_met_and_not_stepped_into(folder, outside):
    trap = folder / "root/etc/ssh/.sshd_config.temper-new"
    tree = LocalTree(
        folder, Disk(lambda step: trap.symlink_to(outside / "new") if step == "write sshd_config" else None)
    )
    with pytest.raises(ActionFailed, match="File exists"):
        tree.write("/etc/ssh/sshd_config", FILE)
    assert names_in(outside) == ["sshd_config"]


def test_what_is_neither_file_nor_folder_is_refused_and_never_waited_for(tree, folder):
    os.mkfifo(folder / "root/etc/pipe")
    assert tree.read("/etc/pipe") is None
    with pytest.raises(ActionFailed, match="not a plain file"):
        tree.require_plain_file_state_or_absence("/etc/pipe")
    with pytest.raises(ActionFailed, match="is a folder"):
        tree.require_plain_file_state_or_absence("/etc/ssh")


@pytest.mark.parametrize("path", ["etc/x", "/etc/../x", "/etc//x", "/etc/./x", "/etc/x/", "/etc/\0x", "/"])
def test_a_path_that_is_not_plain_cannot_be_changed(tree, path):
    with pytest.raises(ActionFailed, match="plain absolute path"):
        tree.write(path, FILE)


def test_a_name_too_long_for_a_disk_is_told(tree):
    with pytest.raises(ActionFailed, match="File name too long"):
        tree.require_plain_file_state_or_absence("/etc/" + "x" * 300)


def test_missing_folders_are_named_from_the_top(tree):
    assert tree.list_missing_folders("/etc/a/b/c.conf") == ["/etc/a", "/etc/a/b"]
    assert tree.list_missing_folders("/etc/ssh/c.conf") == []


def test_a_change_without_its_folder_says_so(tree):
    with pytest.raises(ActionFailed, match="folder that is not there"):
        tree.write("/etc/a/b.conf", FILE)


def test_a_host_that_was_never_laid_out_says_what_to_do(tmp_path):
    with pytest.raises(EnvironmentUnusable, match="prepare the host first"):
        LocalTree(tmp_path, Disk()).read("/etc/passwd")


def test_a_name_that_is_no_text_is_listed_and_read(tree, folder):
    odd = folder / "root/etc/ssh/caf\udce9.conf"
    odd.write_bytes(b"x")
    (folder / "root/etc/ssh/to.conf").symlink_to(odd.name)
    assert "/etc/ssh/caf\ufffde9.conf" in tree.list_paths()
    assert tree.glob("/etc/ssh/*.conf") == ["/etc/ssh/caf\ufffde9.conf", "/etc/ssh/to.conf"]
    assert [tree.read(path) for path in tree.glob("/etc/ssh/*.conf")] == [b"x", b"x"]
    odd.chmod(0)
    assert tree.read("/etc/ssh/caf\ufffde9.conf") == b"x"
    assert not (folder / "loan.json").exists()


def test_a_file_with_a_second_name_is_not_changed(tree, folder):
    (folder / "root/etc/second").hardlink_to(folder / "root/etc/ssh/sshd_config")
    assert tree.read("/etc/ssh/sshd_config") == b"UsePAM yes\n"
    with pytest.raises(ActionFailed, match=r"has 2 names \(hard links\)"):
        tree.require_plain_file_state_or_absence("/etc/ssh/sshd_config")
    (folder / "root/etc/second").unlink()
    assert tree.require_plain_file_state_or_absence("/etc/ssh/sshd_config").content == b"UsePAM yes\n"


def test_what_is_written_is_new_unless_it_says_how_old_it_is(tree, folder):
    at = folder / "root/etc/ssh/sshd_config"
    os.utime(at, ns=(1_600_000_000_000_000_001,) * 2)
    old = tree.require_plain_file_state_or_absence("/etc/ssh/sshd_config")
    assert old.modified == 1_600_000_000_000_000_001
    tree.write("/etc/ssh/sshd_config", FILE)
    assert at.stat().st_mtime_ns > old.modified
    tree.write("/etc/ssh/sshd_config", old)
    assert at.stat().st_mtime_ns == old.modified
