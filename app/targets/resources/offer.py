"""Actions on non-file resources that the host really has. A role can choose only from these."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from app.events.vocabulary import (
    AddMountOptions,
    AgeSetting,
    InstallPackage,
    MountOption,
    RemovePackage,
    ResourceAction,
    SetAgeing,
    SetUnit,
)
from app.targets.resources.dry_run import INSTALLED
from app.text.clean import clean_text

_PLAIN = {
    "package": re.compile(r"[a-zA-Z0-9][a-zA-Z0-9+._-]{1,99}"),
    "unit": re.compile(r"[A-Za-z0-9][A-Za-z0-9@_.-]{0,90}\.(?:service|socket|timer|mount|path)"),
    "mount": re.compile(r"/[A-Za-z0-9_./-]{0,127}"),
    "account": re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}"),
}
_MOST = 24
_LONGEST = 200


@dataclass(frozen=True)
class WantedResources:
    """The resources that the text of a rule names."""

    names: tuple[tuple[str, str], ...] = ()
    """Pairs of a kind and a possible name of that kind."""
    options: tuple[MountOption, ...] = ()
    ages: tuple[tuple[AgeSetting, int], ...] = ()

    @classmethod
    def from_names(
        cls,
        names: Iterable[tuple[str, str]],
        options: Iterable[MountOption] = (),
        ages: Iterable[tuple[AgeSetting, int]] = (),
    ) -> "WantedResources":
        """Keep plain names only: they are sent to a shell's stdin."""
        plain = (one for one in dict.fromkeys(names) if _PLAIN[one[0]].fullmatch(one[1]))
        return cls(tuple(plain)[:_MOST], tuple(options), tuple(ages))


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
    states: Iterable[tuple[str, str]], could: Mapping[str, str], wanted: WantedResources, *, runs: bool
) -> tuple[Offer, ...]:
    found = []
    for place, said in states:
        actions = tuple(_list_actions(place, said, could.get(place, ""), wanted, runs=runs))
        if actions:
            version = could.get(place, "")
            more = f"; {version} could be installed" if version and not said.startswith(INSTALLED) else ""
            found.append(Offer(place, clean_text(said + more, _LONGEST).removeprefix("; "), actions))
    return tuple(found)


def _list_actions(
    place: str, said: str, could: str, wanted: WantedResources, *, runs: bool
) -> Iterator[ResourceAction]:
    kind, _, name = place.partition(":")
    match kind:
        case "package" if said.startswith(INSTALLED):
            yield RemovePackage(package=name)
        case "package" if could:
            yield InstallPackage(package=name)
        case "unit":
            yield from _list_unit_actions(name, *said.split(" ", 1), runs=runs)
        case "mount" if wanted.options:
            yield AddMountOptions(mount=name, options=wanted.options)
        case "account":
            for setting, days in wanted.ages:
                if f" {setting} {days}," not in f" {said},":
                    yield SetAgeing(account=name, setting=setting, days=days)


def _list_unit_actions(name: str, enabled: str, active: str, *, runs: bool) -> Iterator[SetUnit]:
    if enabled == "masked":
        yield SetUnit(unit=name, to="unmask")
    else:
        yield SetUnit(unit=name, to="mask")
    if enabled == "disabled":
        yield SetUnit(unit=name, to="enable")
    if enabled == "enabled":
        yield SetUnit(unit=name, to="disable")
    if runs:
        yield SetUnit(unit=name, to="stop" if active == "active" else "start")
