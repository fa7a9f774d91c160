import pytest

from app.errors import ActionFailed
from app.scanners.openscap.tree_shell import TreeShell


@pytest.fixture
def shell(tmp_path):
    return TreeShell(tmp_path / "root", tmp_path)


async def test_a_command_runs_as_root_of_a_namespace_with_the_tree_named(shell, tmp_path):
    ran = await shell.run(["sh", "-c", "id -u; echo $OSCAP_PROBE_ROOT; exit 3"], 20)
    assert ran.stdout.split() == [b"0", str(tmp_path / "root").encode()]
    assert ran.code == 3


async def test_what_runs_past_its_time_is_ended_with_its_children(shell, tmp_path):
    ended = tmp_path / "ended"
    ran = await shell.run(["sh", "-c", f"(sleep 30; touch {ended}) & sleep 30"], 0.3)
    assert ran.code is None
    assert not ended.exists()


async def test_files_come_back_as_they_were_put(shell, tmp_path):
    path = str(tmp_path / "content")
    assert await shell.read_file(path, 10) is None
    await shell.write_file(path, b"1234")
    await shell.write_file(path, b"12345")
    assert await shell.read_file(path, 5) == b"12345"
    assert (tmp_path / "content").stat().st_mode & 0o777 == 0o600
    with pytest.raises(ActionFailed, match="more than"):
        await shell.read_file(path, 4)
