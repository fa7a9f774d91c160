"""Removes everything that Temper installed on a host."""

from app.errors import BadInput, EnvironmentUnusable
from app.targets.ssh.line import SshConnection
from app.text.clean import clean_text

_OPEN = 3
_LONGEST = 300


def uninstall_from_host(line: SshConnection, content: str) -> list[str]:
    """Remove our files and the scanner's folder `content`; return the paths. Raise BadInput if a change is open."""
    said = line.run("clean", content)
    why = clean_text(said.err.strip(), _LONGEST)
    if said.code == _OPEN:
        raise BadInput(f"nothing was taken away from {line.end}: {why}; temper host check --undo takes it back first.")
    if said.code:
        raise EnvironmentUnusable(f"{line.end} was not left clean: {why or 'no reason given'}.")
    return [clean_text(path, _LONGEST) for path in said.text.splitlines()]
