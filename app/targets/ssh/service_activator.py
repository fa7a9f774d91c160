"""Reloads services and verifies that they read the new files; for sshd also by a new login."""

from collections.abc import Iterable, Sequence

from app.errors import ActionFailed, TemperError
from app.events.event_field_types import AnyAction, Reload
from app.resources.kind import ResourceAction
from app.resources.registry import get_kind
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.endpoint import Endpoint
from app.text.clean import clean_text

ROLLBACK_TIMER_SECONDS = 120
"""Time after which the host rolls a change back unless a new login confirmed it."""
SYSCTL = "systemd-sysctl"
_OF_SSHD = ("/etc/ssh/", "/etc/crypto-policies/")
_UNPROVEN = 7
_SECONDS = 60.0
_LONGEST = 300


def try_test_sshd_and_explain_refusal(connection: SshConnection, login_endpoint: Endpoint) -> str:
    """Return why a test sshd refuses this account, or "" if it accepts it."""
    guest = connection.create_connection_to_script_started_program("trial", login_endpoint)
    try:
        guest.log_in()
    except TemperError as exc:
        connection.assert_alive()
        return clean_text(str(exc), _LONGEST)
    else:
        return ""
    finally:
        guest.close()


def list_users_accepted_by_test_sshd(connection: SshConnection) -> frozenset[str]:
    """Return the accounts that a test sshd accepts; one refused before a change proves nothing after it."""
    return frozenset(
        end.user for end in connection.end.logins if not try_test_sshd_and_explain_refusal(connection, end)
    )


class ServiceActivator:
    def __init__(self, line: SshConnection) -> None:
        self._line = line
        self._let_in: frozenset[str] | None = None
        """Users whom a test sshd accepted before the first change to an sshd file."""

    def record_accepted_users(self, services: Sequence[str]) -> None:
        if "sshd" in services and self._let_in is None:
            self._let_in = list_users_accepted_by_test_sshd(self._line)

    def activate(self, services: Sequence[str]) -> None:
        """Reload `services` unless a test sshd would shut us out; raise ActionFailed if one does not take effect."""
        if not services:
            return
        us = self._line.end
        if (
            "sshd" in services
            and us.user in self._recorded_accepted_users
            and (why := try_test_sshd_and_explain_refusal(self._line, us))
        ):
            raise ActionFailed(f"It is written, and sshd was not told: begun anew it would shut {us.user} out. {why}")
        said = self._line.run("reload", *services, seconds=_SECONDS)
        if said.code == _UNPROVEN:
            self._require_every_login_proven_by_test_sshd(said.reason)
        elif said.code:
            raise ActionFailed(f"It is written but not in force: {said.reason}.")

    @property
    def _recorded_accepted_users(self) -> frozenset[str]:
        return self._let_in or frozenset()

    def _require_every_login_proven_by_test_sshd(self, reason: str) -> None:
        """Require a test login for each other watched user; our own login was tested before the reload."""
        unproven = f"It is written, but {reason}"
        for end in self._line.end.logins:
            if end.user not in self._recorded_accepted_users:
                raise ActionFailed(f"{unproven}; and what a new one would do for {end.user} could not be tried.")
            if end is not self._line.end and (why := try_test_sshd_and_explain_refusal(self._line, end)):
                raise ActionFailed(f"{unproven}; and a new one would shut {end.user} out: {why}")


def list_services_to_reload(paths: Iterable[str], actions: Iterable[AnyAction] = ()) -> tuple[str, ...]:
    """Return the services to reload, each once and sshd last."""
    actions = tuple(actions)
    asked = {one.service.removesuffix(".service") for one in actions if isinstance(one, Reload)}
    asked |= {service for one in actions if isinstance(one, ResourceAction) for service in get_kind(one).services}
    if any(path.startswith(_OF_SSHD) for path in paths):
        asked.add("sshd")
    return tuple(sorted(asked, key=lambda service: (service == "sshd", service)))
