"""The entry that a host booted by stays in grub's menu while its arguments change, until a reboot was seen."""

import subprocess

import pytest

from app.targets.ssh.shell_script import load_script

ENTRY = """menuentry 'Debian GNU/Linux' --class debian $menuentry_id_option 'gnulinux-simple-1' {
\tif [ x$feature = xy ]; then
\t\tinsmod gzio
\tfi
\tlinux /boot/vmlinuz-6.1 root=UUID=1 ro quiet
\tinitrd /boot/initrd.img-6.1
}
"""
OLD = f"set timeout=5\n{ENTRY}submenu 'More' {{\n\tmenuentry 'Debian, recovery' {{\n\t}}\n}}\n"


@pytest.fixture
def host(tmp_path):
    """A folder in the place of /boot/grub, and tools that write a new menu there."""
    (tmp_path / "grub.cfg").write_text(OLD)
    for name, script in {
        "grub-mkconfig": 'printf "%s\\n" "menuentry \'new\' {" "}" >"$2"',
        "grub-script-check": 'grep -q menuentry "$1"',
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)

    def run_function(name, boot="b1"):
        (tmp_path / "boot_id").write_text(f"{boot}\n")
        text = load_script("reload").replace("/boot/grub2", f"{tmp_path}/none").replace("/boot/grub", str(tmp_path))
        for place in ("/proc/sys/kernel/random/boot_id", "/boot/loader", "/etc/default/grub", "/proc/cmdline"):
            text = text.replace(place, f"{tmp_path}/{place.rpartition('/')[2]}")
        functions = text[: text.index("\n# reload ")]
        return subprocess.run(
            ["/bin/sh", "-s"], input=f"{functions}\nPATH={tmp_path}:$PATH\n{name}\n", text=True, capture_output=True,
            check=False,
        )  # fmt: skip

    return tmp_path, run_function


def test_the_entry_of_the_last_boot_is_kept_beside_the_new_menu(host):
    folder, run = host
    ran = run("reload_grub")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (folder / "grub.cfg").read_text() == "menuentry 'new' {\n}\n"
    mark, _, entry = (folder / "custom.cfg").read_text().partition("\n")
    assert mark.endswith("Boot: b1")
    first, *rest = entry.splitlines()
    assert first == "menuentry 'As it booted before the last change of its arguments' --class debian {"
    assert rest == ENTRY.splitlines()[1:]


def test_a_second_change_of_the_same_boot_keeps_the_first_entry_and_the_next_boot_ends_it(host):
    folder, run = host
    run("reload_grub")
    kept = (folder / "custom.cfg").read_text()
    run("reload_grub")
    run("fallback_dropped")
    assert (folder / "custom.cfg").read_text() == kept
    run("fallback_dropped", boot="b2")
    assert not (folder / "custom.cfg").exists()


def test_somebody_elses_entries_are_left_alone(host):
    folder, run = host
    (folder / "custom.cfg").write_text("menuentry 'mine' {\n}\n")
    assert run("reload_grub").returncode == 0
    run("fallback_dropped", boot="b2")
    assert (folder / "custom.cfg").read_text() == "menuentry 'mine' {\n}\n"


def test_a_menu_without_an_entry_of_its_own_needs_none(host):
    folder, run = host
    (folder / "grub.cfg").write_text("insmod blscfg\nblscfg\n")
    assert run("reload_grub").returncode == 0
    assert not (folder / "custom.cfg").exists()


KERNEL = "/vmlinuz-5.14.0-570.el9.x86_64+debug"
LOADED = f"""title Red Hat Enterprise Linux
version 5.14.0-570.el9.x86_64+debug
linux {KERNEL}
initrd /initramfs-5.14.0-570.el9.x86_64+debug.img $tuned_initrd
options root=/dev/mapper/rhel-root ro audit=1 $tuned_params
"""


@pytest.fixture
def by_entries(host):
    """The same host with a boot loader that reads entries, and a menu without any."""
    folder, run = host
    (folder / "grub.cfg").write_text("insmod blscfg\nblscfg\n")
    (folder / "grub").write_text("GRUB_ENABLE_BLSCFG=true\n")
    (folder / "cmdline").write_text(f"BOOT_IMAGE=(hd0,gpt2){KERNEL} root=/dev/mapper/rhel-root ro quiet\n")
    entries = folder / "loader/entries"
    entries.mkdir(parents=True)
    (entries / "other.conf").write_text("title other\nlinux /vmlinuz-0-rescue\noptions ro\n")
    (entries / "new.conf").write_text(LOADED)
    return folder, run, entries


def test_where_entries_are_booted_the_kernel_that_runs_is_kept_in_the_menu_and_no_menu_is_made_anew(by_entries):
    folder, run, entries = by_entries
    before = {path: path.read_text() for path in (folder / "grub.cfg", *entries.iterdir())}
    ran = run("reload_grub")
    assert (ran.returncode, ran.stderr) == (0, "")
    mark, _, entry = (folder / "custom.cfg").read_text().partition("\n")
    assert mark.endswith("Boot: b1")
    assert entry.splitlines() == [
        "menuentry 'As it booted before the last change of its arguments' {",
        f"\tlinux (hd0,gpt2){KERNEL} root=/dev/mapper/rhel-root ro quiet",
        "\tinitrd (hd0,gpt2)/initramfs-5.14.0-570.el9.x86_64+debug.img",
        "}",
    ]
    assert {path: path.read_text() for path in before} == before
    run("fallback_dropped", boot="b2")
    assert not (folder / "custom.cfg").exists()


@pytest.mark.parametrize(
    "line", ["ro quiet\n", f"BOOT_IMAGE=(hd0,gpt2){KERNEL} init='/x'\n", "BOOT_IMAGE=(hd0)/gone ro\n", ""]
)
def test_a_command_line_that_no_entry_can_be_made_of_makes_none(by_entries, line):
    folder, run, _ = by_entries
    (folder / "cmdline").write_text(line)
    assert run("reload_grub").returncode == 0
    assert not (folder / "custom.cfg").exists()


@pytest.mark.parametrize("text", [LOADED.replace("linux", "title"), LOADED.replace("options", "title"), ""])
def test_an_entry_without_a_kernel_or_with_two_lines_of_options_is_no_entry(by_entries, text):
    folder, run, entries = by_entries
    for broken in (text, LOADED + "options ro\n"):
        (entries / "new.conf").write_text(broken)
        ran = run("reload_grub")
        assert (ran.returncode, ran.stderr) == (8, f"{entries}/new.conf is no entry that a kernel can be booted by\n")
        assert not (folder / "custom.cfg").exists()
