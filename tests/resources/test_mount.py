import pytest

from app.resources.kind import ForeseenStates, ResourceState
from app.resources.mount import judge_mounts


def change(mount, after):
    return ForeseenStates((ResourceState(f"mount:{mount}", "mounted none, fstab none", after),))


@pytest.mark.parametrize("mount", ["/tmp", "/dev/shm", "/home", "/var/tmp", "/var/log/audit"])
def test_where_people_write_may_become_stricter(mount):
    assert judge_mounts(change(mount, "mounted nodev nosuid noexec, fstab nodev nosuid noexec")) is None


@pytest.mark.parametrize("mount", ["/", "/usr", "/proc", "/dev"])
def test_what_the_system_needs_stays_as_it_is(mount):
    assert judge_mounts(change(mount, "mounted nosuid, fstab nosuid")).clause == "destruction"


def test_programs_go_on_running_from_where_packages_keep_them():
    assert judge_mounts(change("/var", "mounted nodev, fstab nodev")) is None
    assert judge_mounts(change("/var", "mounted noexec, fstab noexec")).clause == "destruction"
