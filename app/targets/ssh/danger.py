"""What a change puts at risk: how long the host waits for us, and who must be told before it counts."""

from collections.abc import Iterable

from app.events.words import AnyAction, Reload

SECONDS = 120
"""Until the host takes any change back by itself, unless a new login said that it can stay."""

_OF_SSHD = ("/etc/ssh/", "/etc/crypto-policies/")


def services(paths: Iterable[str], actions: Iterable[AnyAction] = ()) -> tuple[str, ...]:
    """To be reloaded, each once, sshd last: a change that nobody reads yet proves nothing."""
    asked = {one.service.removesuffix(".service") for one in actions if isinstance(one, Reload)}
    if any(path.startswith(_OF_SSHD) for path in paths):
        asked.add("sshd")
    return tuple(sorted(asked, key=lambda service: (service == "sshd", service)))
