"""Assesses what a change could break, by its files, settings and services.

Anything unknown is assumed to cut the connection.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from app.events.approval_policy import ChangeRisk
from app.events.event_field_types import AnyAction, Reload
from app.events.kinds import ActionProposed
from app.resources.kind import Objection, ResourceAction
from app.resources.registry import get_kind
from app.resources.vendor_script import RunVendorScript
from app.skills.skill import Rule
from app.targets.writable_areas import find_judge_or_objection
from app.text.clean import clean_text


@dataclass(frozen=True)
class Hazard:
    word: str
    cuts_the_line: bool
    paths: tuple[str, ...] = ()


HAZARDS = msgspec.toml.decode(
    Path(__file__).with_name("hazards.toml").read_bytes(), type=dict[str, tuple[Hazard, ...]]
)["hazard"]
_BY_WORD = {hazard.word: hazard for hazard in HAZARDS}
WORDS = tuple(_BY_WORD)
LOGIN, NETWORK, KERNEL = _BY_WORD["remote login"], _BY_WORD["network"], _BY_WORD["kernel settings"]
BOOT, SERVICES, UNKNOWN = _BY_WORD["boot"], _BY_WORD["services"], _BY_WORD["something else"]
_NETWORK_KEYS = "net."


def assess_risk(
    rule: Rule, proposed: ActionProposed, changed_paths: Collection[str] = (), one_way_settings: Sequence[str] = ()
) -> ChangeRisk:
    """Return the risk.

    `changed_paths` are the files that would change, `one_way_settings` the settings that hold until the next boot.
    """
    hazards = {*find_hazards(proposed.actions), *(one for path in changed_paths for one in _iterate_file_hazards(path))}
    foreign = [path for path in changed_paths if isinstance(find_judge_or_objection(path), Objection)]
    return ChangeRisk(
        category=rule.category,
        breaks=tuple(hazard.word for hazard in HAZARDS if hazard in hazards),
        cuts_the_line=any(hazard.cuts_the_line for hazard in hazards),
        irreversible=rule.irreversible or bool(one_way_settings),
        replayed=bool(proposed.replayed),
        vendor=any(isinstance(action, RunVendorScript) for action in proposed.actions),
        warnings=(
            *(f"{setting} holds until the next boot, even after a rollback" for setting in one_way_settings),
            *(
                f"{clean_text(path, 256)} is none of the files that Temper judges: only modes and owners are checked"
                for path in foreign
            ),
        ),
    )


def find_hazards(actions: Iterable[AnyAction]) -> Iterable[Hazard]:
    for action in actions:
        if isinstance(action, Reload):
            yield _classify_service(action.service)
        elif isinstance(action, ResourceAction):
            yield _BY_WORD[get_kind(action).hazard]
        else:
            yield from _iterate_file_hazards(action.path, action)


def _classify_service(service: str) -> Hazard:
    if service.removesuffix(".service") in ("ssh", "sshd"):
        return LOGIN
    return KERNEL if service.startswith("systemd-sysctl") else BOOT if service == "grub" else SERVICES


def _iterate_file_hazards(path: str, action: AnyAction | None = None) -> Iterable[Hazard]:
    """Yield the hazards of a file; kernel settings that name the network add that."""
    found = next((one for one in HAZARDS if any(fnmatchcase(path, pattern) for pattern in one.paths)), UNKNOWN)
    yield found
    texts = (getattr(action, name, "") for name in ("key", "line", "old", "new", "content"))
    if found is KERNEL and any(_NETWORK_KEYS in text.replace("/", ".") for text in texts):
        yield NETWORK
