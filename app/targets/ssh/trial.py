"""Tests a login on an sshd started on the current files, to predict the next restart.

The sshd does not listen. Its only client comes through the open connection, so nobody is affected and no port
forwarding is needed.
"""

from app.errors import TemperError
from app.targets.ssh.endpoint import Endpoint
from app.targets.ssh.line import SshLine
from app.text.clean import clean

_LONGEST = 300


def refusal(line: SshLine, end: Endpoint) -> str:
    """Return why a test sshd refuses this account, or "" if it accepts it."""
    guest = line.through("trial", end)
    try:
        guest.log_in()
    except TemperError as exc:
        line.stands()
        return clean(str(exc), _LONGEST)
    else:
        return ""
    finally:
        guest.close()


def let_in(line: SshLine) -> frozenset[str]:
    """Return the accounts that a test sshd accepts; one refused before a change proves nothing after it."""
    ends = (line.end, *(line.end.of(one) for one in line.end.watched))
    return frozenset(end.user for end in ends if not refusal(line, end))
