"""Reads the running state of a host over SSH."""

from app.syntax.files import Files
from app.targets.running import InForce, kernel_settings, standing
from app.targets.ssh.line import SshLine
from app.targets.ssh.told import told

_SECONDS = 60.0


def asked(line: SshLine, files: Files) -> InForce:
    said = line.run("running", *kernel_settings(files), seconds=_SECONDS)
    return standing(files, told(said.text.splitlines()).rows)
