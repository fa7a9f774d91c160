"""What the test of a kind declares as CASE, so that test_conformance.py can try every part of it."""

from dataclasses import dataclass

from app.resources.kind import HostState, ResourceAction, ResourceState, RuleTexts


@dataclass(frozen=True)
class Sample:
    """An action of the kind, as it goes on the host that `KindCase.prepare` lays out."""

    action: ResourceAction
    possible: HostState
    foreseen: ResourceState
    refused: ResourceState | None
    """What the kind's own policy refuses beside it; None if its effect is judged as that of files and other kinds."""


@dataclass(frozen=True)
class KindCase:
    samples: tuple[Sample, ...]
    """At least one for each action of the kind."""
    rule: RuleTexts
    """It names each sample's resource, and wants each sample's action."""
    prepare: str = ""
    """A script that lays out in an empty tree what the actions need."""
