"""`temper machine list`: each machine, whether it runs, how it is reached, and what it can return to."""

import time
from pathlib import Path

from app.cli.output import Row, print_rows
from app.targets.vm.virtual_machine import VirtualMachine, list_machines


def print_machines(folder: Path, *, as_json: bool) -> None:
    rows = [_to_machine_row(machine) for machine in list_machines(folder)]
    print_rows(rows, "There are no machines. Build one with temper machine build NAME.", as_json=as_json)


def _to_machine_row(machine: VirtualMachine) -> Row:
    record = machine.read_record()
    taken = sorted((one.taken_at, label) for label, one in record.snapshots.items())
    return {
        "name": machine.name,
        "kind": record.kind,
        "state": "running" if machine.is_up else "stopped",
        "address": f"127.0.0.1:{record.port}" if machine.is_up else "",
        "processor": record.accelerator,
        "memory_mb": record.memory,
        "disk_mb": machine.measure_disk_use() >> 20,
        "boot_seconds": record.boot_seconds,
        "snapshots": ", ".join(f"{label} ({time.strftime('%H:%M', time.localtime(at))})" for at, label in taken),
    }
