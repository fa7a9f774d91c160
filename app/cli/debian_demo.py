"""`temper demo --rootfs` and `--vm`: the demo on a disposable Debian with its own sshd, scanned by OpenSCAP."""

import asyncio
import getpass
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec
from sqlmodel import Session

from app.cli.database_access import open_or_create_database
from app.cli.output import print_line
from app.cli.serve import serve_until_signal
from app.config import Settings
from app.errors import BadInput
from app.runs.order import Order
from app.runtime.data_folder import hold_lock
from app.scanners.openscap.scap_files import add_benchmark, map_names_to_datastreams
from app.skills.catalog import load_skill
from app.store import run_queries
from app.targets import host_registry
from app.targets.rootfs.base_image_definition import BaseImage
from app.targets.rootfs.loopback_sshd_port_and_known_hosts import SshAccess
from app.targets.rootfs.rootfs_machine import Rootfs
from app.targets.ssh.endpoint import parse_endpoint
from app.targets.ssh.registration import read_identity_from_known_hosts
from app.targets.vm.virtual_machine import VirtualMachine

CONTENT = "ssg-debian12"
DATASTREAM = f"usr/share/xml/scap/ssg/content/{CONTENT}-ds.xml"
"""Its place below the root of a Debian that has the package."""
TITLE = "A disposable Debian 12 in a namespace of this machine. A health check watches its root login."
SKILL = f"scap:{CONTENT}:anssi_bp28_enhanced"
RULES = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, tuple[str, ...]])["rules"]
VM_RULES = ("sysctl_kernel_kptr_restrict", "mount_option_tmp_nosuid", "sshd_disable_root_login", "accounts_tmout")
"""Selected from the profile's 300 rules: a kernel setting, a mount, logins and files. Emulated, OpenSCAP is slow."""


def serve_debian_demo(settings: Settings, name: str, *, start: bool, whole: bool = False) -> None:
    """Build and start the machine, then serve. The folder's lock keeps a second demo from resetting it."""
    machine = Rootfs(settings.data / "rootfs", name)
    with hold_lock(settings.lock_path):
        ensure_machine_built(machine, "a Debian 12", partial(machine.build, BaseImage()))
        if start and not has_unended_run(settings, name):
            machine.reset()
            host_registry.forget_changes_undone_by_machine_reset(settings.hosts_folder, name)
    try:
        at = machine.start()
        register_machine(settings, machine, at)
        add_datastream_to_local_content_if_missing(machine.base_folder / DATASTREAM)
        running = f"{name} is running: a Debian 12 with sshd on 127.0.0.1:{at.port}, scanned by OpenSCAP."
        print_line(f"{running} Press Ctrl-C to stop everything.", to_stderr=True)
        rules = None if whole else keep_rules_of_demo_profile()
        order = create_demo_order(settings, name, "demo on a disposable Debian", rules)
        asyncio.run(serve_until_signal(settings, first_order=order if start else None))
    finally:
        machine.stop()
        print_line(f"{name} is stopped.", to_stderr=True)


def serve_vm_demo(settings: Settings, name: str, *, starts_run: bool, whole: bool = False) -> None:
    """Build and boot a virtual machine, then serve. It ends with this process, however that ends."""
    machine = VirtualMachine(settings.data / "machines", name, lambda text: print_line(text, to_stderr=True))
    with hold_lock(settings.lock_path):
        ensure_machine_built(machine, "a Debian 12 that boots,", machine.build)
        if starts_run and not has_unended_run(settings, name):
            machine.reset()
            host_registry.forget_changes_undone_by_machine_reset(settings.hosts_folder, name)
    try:
        at = machine.start(is_tied=True)
        image = machine.get_current_image_of_kind()
        register_machine(settings, machine, at, image.title)
        add_datastream_to_local_content_if_missing(machine.base_image_folder / image.content)
        running = f"{name} is running: a Debian 12 that booted, with sshd on 127.0.0.1:{at.port}, scanned by OpenSCAP."
        print_line(f"{running} Press Ctrl-C to stop everything.", to_stderr=True)
        rules = None if whole else keep_rules_of_demo_profile(VM_RULES)
        order = replace(create_demo_order(settings, name, "demo on a virtual machine", rules), reboot=True)
        asyncio.run(serve_until_signal(settings, first_order=order if starts_run else None))
    finally:
        machine.stop(at_once=True)
        print_line(f"{name} is stopped.", to_stderr=True)


def ensure_machine_built(machine: Rootfs | VirtualMachine, description: str, build: Callable[[], None]) -> None:
    if machine.is_built:
        return
    building = f"Building {machine.name}, {description} from the Debian archive."
    print_line(f"{building} The first build takes a minute or two.", to_stderr=True)
    began = time.monotonic()
    build()
    print_line(f"Built in {time.monotonic() - began:.0f} s.", to_stderr=True)


def has_unended_run(settings: Settings, name: str) -> bool:
    """Return True if an interrupted run continues, so the machine must not be reset."""
    with open_or_create_database(settings) as database, Session(database) as session:
        return bool(run_queries.list_unended_runs(session, name))


def register_machine(
    settings: Settings, machine: Rootfs | VirtualMachine, access: SshAccess, title: str = TITLE
) -> None:
    """Register the machine as a host, or register it again if its port has changed."""
    watch = f"root={machine.get_access('root').key}"
    end = parse_endpoint(f"{access.account}@127.0.0.1:{access.port}", "key", str(access.key), (watch,))
    there = host_registry.find_host(settings.hosts_folder, machine.name)
    if there and there.end.secret_at != end.secret_at:
        raise BadInput(f"another host is already called {machine.name!r}: choose a name with --machine.")
    kind: Literal["vm", "rootfs"] = "vm" if isinstance(machine, VirtualMachine) else "rootfs"
    own = host_registry.DisposableMachine(kind, str(machine.folder.absolute()))
    if there and (there.end, there.machine) == (end, own):
        return
    if there:
        host_registry.remove_host(settings.hosts_folder, machine.name)
    known = read_identity_from_known_hosts(end, access.known_hosts)
    found = known.known_hosts, known.fingerprint
    host_registry.register_host(settings.hosts_folder, machine.name, end, *found, title, own)


def add_datastream_to_local_content_if_missing(machine_datastream: Path) -> None:
    """Copy the machine's SCAP content to this one if it is missing here."""
    name = machine_datastream.name.removesuffix("-ds.xml")
    if name not in map_names_to_datastreams():
        add_benchmark(machine_datastream)
        print_line(f"Its content is kept here, too: temper scap list {name}", to_stderr=True)


def keep_rules_of_demo_profile(demo_rules: Sequence[str] = RULES) -> tuple[str, ...]:
    """Return those rules of a demo that the profile has."""
    known = load_skill(SKILL).rules
    return tuple(rule for rule in demo_rules if rule in known)


def create_demo_order(settings: Settings, host: str, note: str, rules: tuple[str, ...] | None) -> Order:
    """Order the demo's rules with the line-up; or the whole profile without a model, if `rules` is None."""
    usual = Order(host=host, rules=rules, mode="auto", keep=True, skill=SKILL, by=getpass.getuser(), note=note)
    return replace(usual, pace=settings.speed) if rules else replace(usual, engine="none", note=f"{note}: the whole")
