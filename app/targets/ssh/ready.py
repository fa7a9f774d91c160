"""Can a change be made on a host, and could it be taken back there, by the host alone if need be?"""

from app.errors import Unusable
from app.targets import consent
from app.targets.ssh.line import SshLine
from app.text.clean import clean

ROOM = 4 * 1024 * 1024
"""What a journal may take; `ready` writes as much, and takes it away again."""

_NO_JOURNAL, _NO_TIMER = 4, 6


def lack(line: SshLine) -> str:
    """Why the host could not take a change back by itself; empty where it can. Without a way to change it: Unusable."""
    said = line.run("ready", str(ROOM))
    if not said.code:
        return ""
    why = clean(said.err.strip(), 300) or "no reason given"
    if said.code in (_NO_JOURNAL, _NO_TIMER):
        return why
    raise Unusable(f"{line.end} cannot be changed, so nothing is begun: {why}.")


def keeps_journals(line: SshLine, host: str, said: str) -> bool:
    """False where a person accepted, in words, that it does not."""
    why = lack(line)
    if why and said != consent.sentence(host):
        raise Unusable(
            f"{host} could not be rolled back, so nothing is begun: {why}. "
            f'If that is accepted, ask again with --without-rollback "{consent.sentence(host)}"; '
            "over the API the same words are the field consent."
        )
    return not why
