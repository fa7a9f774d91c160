import pytest

from app.scanners.openscap.local_oscap_shell import TreeShell


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


async def test_a_command_reads_what_it_is_sent_and_each_line_is_heard(shell):
    heard = []
    ran = await shell.run(["sh", "-c", "head -c 3; echo; echo done"], 20, b"abcdef" * 100_000, heard.append)
    assert heard == ["abc", "done"]
    assert ran.stdout == b"abc\ndone\n"
