"""The rollback timer and the services that a change must reload."""

from collections.abc import Iterable

from app.events.words import AnyAction, Reload

ROLLBACK_TIMER_SECONDS = 120
"""Time after which the host rolls a change back unless a new login confirmed it."""

_OF_SSHD = ("/etc/ssh/", "/etc/crypto-policies/")


def services_to_reload(paths: Iterable[str], actions: Iterable[AnyAction] = ()) -> tuple[str, ...]:
    """Return the services to reload, each once and sshd last."""
    asked = {one.service.removesuffix(".service") for one in actions if isinstance(one, Reload)}
    if any(path.startswith(_OF_SSHD) for path in paths):
        asked.add("sshd")
    return tuple(sorted(asked, key=lambda service: (service == "sshd", service)))
