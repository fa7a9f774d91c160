from dataclasses import replace

import pytest

from app.errors import BadInput, EnvironmentUnusable
from app.targets.rootfs.base_image_definition import MIRROR_VARIABLE
from app.targets.vm.machine_image_builder import DISKS, get_image_definition_of_kind, require_disk_space


@pytest.fixture(autouse=True)
def _mirror(monkeypatch):
    monkeypatch.setenv(MIRROR_VARIABLE, "http://debian.example.org/debian")


def test_a_folder_is_packed_before_the_one_that_it_lies_in():
    packed = []
    for disk in DISKS:
        assert not [one for one in packed if disk.folder.startswith(f"{one}/")]
        packed.append(disk.folder)
    assert packed[-1] == "/"
    assert {"/home", "/tmp", "/var", "/var/log", "/var/log/audit", "/var/tmp"} < set(packed)


def test_its_name_changes_with_what_it_is_made_from():
    image = get_image_definition_of_kind("debian12")
    others = [
        replace(image, disks=DISKS[:-1]),
        replace(image, base=replace(image.base, packages=("linux-image-cloud-amd64",))),
        replace(image, base=replace(image.base, hooks=())),
        replace(image, scripts=("el9/weaken.sh",)),
        get_image_definition_of_kind("el9"),
    ]
    assert get_image_definition_of_kind("debian12").name == image.name
    assert len({one.name for one in (image, *others)}) == 6


def test_the_stand_in_says_what_it_is_and_has_content_for_what_it_stands_for():
    image = get_image_definition_of_kind("el9")
    assert "A stand-in for RHEL 9" in image.title
    assert "SIMULATED distribution" in image.title
    assert image.content == "ssg-rhel9-ds.xml"
    pins = next(word for word in image.base.build_command("x.tar") if "preferences" in word)
    assert "Package: ssg-nondebian" in pins


def test_an_unknown_kind_is_refused_with_those_that_exist():
    with pytest.raises(BadInput, match=r"'plan9' is not a kind of machine\. The kinds are: debian12, el9"):
        get_image_definition_of_kind("plan9")


def test_a_disk_without_room_is_said_before_anything_is_built(tmp_path):
    require_disk_space(tmp_path / "new", 1)
    with pytest.raises(EnvironmentUnusable, match=r"needs up to 1099511627776 MB .* or choose another folder"):
        require_disk_space(tmp_path, 1 << 40)
