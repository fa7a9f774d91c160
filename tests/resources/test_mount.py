import pytest

from app.resources.kind import ForeseenStates, HostState, ResourceState, RuleTexts
from app.resources.mount import AddMountOptions, judge_mounts
from tests.resources.case import KindCase, Sample

WAS = "mounted nodev nosuid, fstab none"
CASE = KindCase(
    samples=(
        Sample(
            AddMountOptions(mount="/tmp", options=("noexec",)),
            HostState(WAS),
            ResourceState(
                "mount:/tmp", "mounted nodev nosuid, fstab none", "mounted nodev nosuid noexec, fstab noexec"
            ),
            ResourceState("mount:/usr", "mounted none, fstab none", "mounted noexec, fstab noexec"),
        ),
    ),
    rule=RuleTexts("x", "/tmp must be mounted with the noexec option."),
    prepare="echo 'tmpfs /tmp tmpfs defaults 0 0' >/etc/fstab",
)


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
