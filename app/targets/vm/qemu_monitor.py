"""Commands for a running QEMU over its monitor socket (QMP)."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from app.errors import EnvironmentUnusable
from app.text.clean import clean_line

SOCKET = "monitor"
_SECONDS = 60.0


class Monitor:
    def __init__(self, lines: TextIO) -> None:
        self._lines = lines

    def execute(self, command: str, **arguments: Any) -> Any:
        """Return what QEMU answers; raise EnvironmentUnusable with its reason if it refuses."""
        self._lines.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._lines.flush()
        while line := self._lines.readline():
            answer = json.loads(line)
            if "error" in answer:
                raise EnvironmentUnusable(f"QEMU refused {command}: {clean_line(answer['error']['desc'], 200)}")
            if "return" in answer:
                return answer["return"]
        raise EnvironmentUnusable(f"QEMU ended before it answered {command}.")

    def run_snapshot_command(self, command: str, snapshot: str) -> None:
        """Run savevm, loadvm or delvm. QEMU says nothing if it worked, and why if it did not."""
        said = self.execute("human-monitor-command", **{"command-line": f"{command} {snapshot}"})
        if said:
            raise EnvironmentUnusable(f"QEMU could not {command} {snapshot}: {clean_line(said, 200)}")


@contextmanager
def open_monitor(folder: Path) -> Iterator[Monitor]:
    """Connect to the machine's monitor; raise EnvironmentUnusable if nobody answers there."""
    place = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(_SECONDS)
            one.connect(f"/proc/self/fd/{place}/{SOCKET}")  # a socket's path has 108 characters at most
            with one.makefile("rw") as lines:
                lines.readline()  # the greeting
                monitor = Monitor(lines)
                monitor.execute("qmp_capabilities")
                yield monitor
    except OSError as exc:
        raise EnvironmentUnusable(f"The monitor of {folder.name} does not answer: {exc.strerror or exc}.") from exc
    finally:
        os.close(place)
