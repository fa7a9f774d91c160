"""Tests a login on an sshd started on the current files, to predict the next restart.

The sshd does not listen. Its only client comes through the open connection, so nobody is affected and no port
forwarding is needed.
"""

from app.errors import TemperError
from app.targets.ssh.endpoint import Endpoint
from app.targets.ssh.line import SshConnection
from app.text.clean import clean_text

_LONGEST = 300


def find_login_refusal(line: SshConnection, end: Endpoint) -> str:
    """Return why a test sshd refuses this account, or "" if it accepts it."""
    guest = line.connect_through("trial", end)
    try:
        guest.log_in()
    except TemperError as exc:
        line.assert_alive()
        return clean_text(str(exc), _LONGEST)
    else:
        return ""
    finally:
        guest.close()


def list_accepted_users(line: SshConnection) -> frozenset[str]:
    """Return the accounts that a test sshd accepts; one refused before a change proves nothing after it."""
    ends = (line.end, *(line.end.for_watched_login(one) for one in line.end.watched))
    return frozenset(end.user for end in ends if not find_login_refusal(line, end))
