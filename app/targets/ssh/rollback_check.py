"""Checks that a host can be changed, and that it can roll a change back by itself."""

from app.errors import EnvironmentUnusable
from app.targets import consent
from app.targets.ssh.connection import SshConnection
from app.text.clean import clean_text

ROOM = 4 * 1024 * 1024
"""Space for a journal; the script `ready` writes as much and removes it."""

_NO_JOURNAL, _NO_TIMER = 4, 6


def find_rollback_obstacle(line: SshConnection) -> str:
    """Return why the host cannot roll a change back, or "". Raise Unusable if it cannot be changed at all."""
    said = line.run("ready", str(ROOM))
    if not said.code:
        return ""
    why = clean_text(said.err.strip(), 300) or "no reason given"
    if said.code in (_NO_JOURNAL, _NO_TIMER):
        return why
    raise EnvironmentUnusable(f"{line.end} cannot be changed, so nothing is begun: {why}.")


def check_rollback_or_consent(line: SshConnection, host: str, said: str) -> bool:
    """Return True if the host keeps journals, False if `said` accepts that it does not; raise Unusable otherwise."""
    why = find_rollback_obstacle(line)
    if why and said != consent.build_consent_sentence(host):
        raise EnvironmentUnusable(
            f"{host} could not be rolled back, so nothing is begun: {why}. "
            f'If that is accepted, ask again with --without-rollback "{consent.build_consent_sentence(host)}"; '
            "over the API the same words are the field consent."
        )
    return not why
