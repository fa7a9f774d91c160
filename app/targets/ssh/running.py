"""Reads the running state of a host over SSH."""

from app.syntax.files import Files
from app.targets.running import InForceReport, compare_running, list_kernel_settings
from app.targets.ssh.line import SshConnection
from app.targets.ssh.told import parse_host_report

_SECONDS = 60.0


def read_running_state(line: SshConnection, files: Files) -> InForceReport:
    said = line.run("running", *list_kernel_settings(files), seconds=_SECONDS)
    return compare_running(files, parse_host_report(said.text.splitlines()).rows)
