import pytest

from app.errors import BadInput
from app.targets.rootfs.rootfs_machine import Rootfs


@pytest.mark.parametrize("name", ["", "A", "a b", "../a", "a" * 40, "bases", "trial", "a\n"])
def test_a_name_that_is_none_is_refused(tmp_path, name):
    with pytest.raises(BadInput, match="not a valid name for a machine"):
        Rootfs(tmp_path, name)


def test_what_is_not_built_is_said(tmp_path):
    machine = Rootfs(tmp_path, "one")
    for act in (machine.start, machine.reset):
        with pytest.raises(BadInput, match="temper rootfs build one"):
            act()
    machine.stop()
    machine.discard()
    assert not machine.is_up
    assert list(tmp_path.iterdir()) == []
