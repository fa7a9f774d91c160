from dataclasses import replace

import pytest

from app.errors import BadInput
from app.targets.vm.qemu_command import QemuOptions, build_qemu_command, require_memory

OPTIONS = QemuOptions(name="one", accelerator="tcg", memory=1024, port=2222, disks=("root", "home"), base="../bases/b")
MEMINFO = "MemTotal: 8192000 kB\nMemAvailable: 2097152 kB\n"


def follow(command, option):
    return [command[at + 1] for at, word in enumerate(command) if word == option]


def test_the_network_has_one_way_in_on_loopback_and_none_out():
    (network,) = follow(build_qemu_command(OPTIONS), "-netdev")
    assert network == "user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:2222-10.0.2.15:22"


def test_the_image_is_only_read_and_each_disk_is_the_machines_own():
    drives = follow(build_qemu_command(OPTIONS), "-drive")
    assert [one.split("file=")[1] for one in drives] == [
        "root.qcow2,format=qcow2,discard=unmap",
        "home.qcow2,format=qcow2,discard=unmap",
        "../bases/b/boot.img,format=raw,readonly=on",
    ]


def test_qemu_may_start_no_programs_and_has_no_window():
    command = build_qemu_command(OPTIONS)
    assert "spawn=deny" in follow(command, "-sandbox")[0]
    assert follow(command, "-display") == ["none"]


@pytest.mark.parametrize(("accelerator", "words"), [("kvm", ["kvm"]), ("tcg", ["tcg,thread=multi,tb-size=256"])])
def test_emulation_uses_a_thread_for_each_processor(accelerator, words):
    assert follow(build_qemu_command(replace(OPTIONS, accelerator=accelerator)), "-accel") == words


def test_an_emulated_processor_is_a_plain_one_and_a_machine_of_before_keeps_its_own():
    assert follow(build_qemu_command(OPTIONS), "-cpu") == ["qemu64"]
    assert follow(build_qemu_command(replace(OPTIONS, emulated_cpu="max")), "-cpu") == ["max"]
    assert follow(build_qemu_command(replace(OPTIONS, accelerator="kvm")), "-cpu") == ["max"]


def test_a_tied_machine_is_killed_with_its_starter():
    assert build_qemu_command(replace(OPTIONS, is_tied=True))[:3] == ["setpriv", "--pdeathsig", "KILL"]
    assert "setpriv" not in build_qemu_command(OPTIONS)


def test_it_can_go_on_from_a_snapshot():
    assert "-loadvm" not in build_qemu_command(OPTIONS)
    assert follow(build_qemu_command(replace(OPTIONS, snapshot="pristine")), "-loadvm") == ["pristine"]


@pytest.mark.parametrize("wanted", [0, 511, 8193])
def test_memory_has_bounds(wanted):
    with pytest.raises(BadInput, match="512 to 8192"):
        require_memory(wanted, MEMINFO)


def test_memory_that_is_not_free_is_refused_with_what_is():
    require_memory(1792, MEMINFO)
    with pytest.raises(BadInput, match="1793 MB does not fit: 2048 MB are available"):
        require_memory(1793, MEMINFO)
