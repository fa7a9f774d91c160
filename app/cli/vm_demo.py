"""`temper demo --vm`: the demo on a virtual machine that boots, with a kernel and systemd of its own."""

import asyncio
from dataclasses import replace

from app.cli.debian_demo import (
    add_missing_scap_content,
    create_demo_order,
    ensure_machine_built,
    has_unended_run,
    keep_rules_of_demo_profile,
    register_machine,
)
from app.cli.output import print_line
from app.cli.serve import serve_until_signal
from app.config import Settings
from app.runtime.data_folder import hold_lock
from app.targets.vm.virtual_machine import VirtualMachine

RULES = ("sysctl_kernel_kptr_restrict", "mount_option_tmp_nosuid", "sshd_disable_root_login", "accounts_tmout")
"""Selected from the profile's 300 rules: a kernel setting, a mount, logins and files. Emulated, OpenSCAP is slow."""


def serve_vm_demo(settings: Settings, name: str, *, starts_run: bool, whole: bool = False) -> None:
    """Build and boot the machine, then serve. It ends with this process, however that ends."""
    machine = VirtualMachine(settings.data / "machines", name, lambda text: print_line(text, to_stderr=True))
    with hold_lock(settings.lock_path):
        ensure_machine_built(machine, "a Debian 12 that boots,", machine.build)
        if starts_run and not has_unended_run(settings, name):
            machine.reset()
    try:
        at = machine.start(is_tied=True)
        image = machine.find_image()
        register_machine(settings, machine, at, image.title)
        add_missing_scap_content(machine.image_folder / image.content)
        running = f"{name} is running: a Debian 12 that booted, with sshd on 127.0.0.1:{at.port}, scanned by OpenSCAP."
        print_line(f"{running} Press Ctrl-C to stop everything.", to_stderr=True)
        rules = None if whole else keep_rules_of_demo_profile(RULES)
        order = replace(create_demo_order(settings, name, "demo on a virtual machine", rules), reboot=True)
        asyncio.run(serve_until_signal(settings, first_order=order if starts_run else None))
    finally:
        machine.stop(at_once=True)
        print_line(f"{name} is stopped.", to_stderr=True)
