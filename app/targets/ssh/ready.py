"""Checks that a host can be changed, and that it can roll a change back by itself."""

from app.errors import Unusable
from app.targets import consent
from app.targets.ssh.line import SshLine
from app.text.clean import clean

ROOM = 4 * 1024 * 1024
"""Space for a journal; the script `ready` writes as much and removes it."""

_NO_JOURNAL, _NO_TIMER = 4, 6


def lack(line: SshLine) -> str:
    """Return why the host cannot roll a change back, or "". Raise Unusable if it cannot be changed at all."""
    said = line.run("ready", str(ROOM))
    if not said.code:
        return ""
    why = clean(said.err.strip(), 300) or "no reason given"
    if said.code in (_NO_JOURNAL, _NO_TIMER):
        return why
    raise Unusable(f"{line.end} cannot be changed, so nothing is begun: {why}.")


def keeps_journals(line: SshLine, host: str, said: str) -> bool:
    """Return True if the host keeps journals, False if `said` accepts that it does not; raise Unusable otherwise."""
    why = lack(line)
    if why and said != consent.sentence(host):
        raise Unusable(
            f"{host} could not be rolled back, so nothing is begun: {why}. "
            f'If that is accepted, ask again with --without-rollback "{consent.sentence(host)}"; '
            "over the API the same words are the field consent."
        )
    return not why
