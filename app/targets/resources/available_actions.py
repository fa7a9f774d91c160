"""Actions on non-file resources that the host really has. A role can choose only from these."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.resources.kind import HostState, ResourceAction
from app.resources.package import INSTALLED
from app.resources.registry import get_kind, get_prefixed_name_of_changed_resource
from app.text.clean import clean_text

_LONGEST = 200


@dataclass(frozen=True)
class Offer:
    place: str
    """The name in plans, such as `unit:sshd.service`."""
    state: str
    actions: tuple[ResourceAction, ...]

    @property
    def description(self) -> str:
        return f"{self.place}: {self.state or 'absent'}"


def build_offers(
    states: Iterable[tuple[str, str]],
    available_versions: Mapping[str, str],
    wanted: Sequence[ResourceAction],
    *,
    has_systemd: bool,
) -> tuple[Offer, ...]:
    """Build an offer of the wanted actions that are possible for each resource that the host names with its state."""
    found = []
    for place, said in states:
        host = HostState(said, available_versions.get(place, ""), has_systemd)
        ours = (action for action in wanted if get_prefixed_name_of_changed_resource(action) == place)
        if actions := tuple(action for action in ours if get_kind(action).is_possible(action, host)):
            more = f"; {host.version} could be installed" if host.version and not said.startswith(INSTALLED) else ""
            found.append(Offer(place, clean_text(said + more, _LONGEST).removeprefix("; "), actions))
    return tuple(found)
