"""A login to a sshd that is begun for it alone, on the host's files as they stand: what the next restart would do.

It listens nowhere. Its one guest comes through the line that is open, so it harms nobody who is on the host, and
works where nothing may be forwarded.
"""

from app.errors import TemperError
from app.targets.ssh.endpoint import Endpoint
from app.targets.ssh.line import SshLine
from app.text.clean import clean

_LONGEST = 300


def refusal(line: SshLine, end: Endpoint) -> str:
    """Why it does not let this account in; empty where it does."""
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
    """Of us and those whose login is watched. Whom it does not let in before a change it tells nothing of after one."""
    ends = (line.end, *(line.end.of(one) for one in line.end.watched))
    return frozenset(end.user for end in ends if not refusal(line, end))
