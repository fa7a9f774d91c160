"""What a kind of resource that is not a file declares: its actions, and how each is found, judged and done."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from msgspec import Struct

NOT_FORESEEN = "not foreseen here"
"""The state after, of a resource that a vendor's script names: a copy of the files cannot show it."""


class Action(Struct, frozen=True, kw_only=True, tag_field="do", forbid_unknown_fields=True):
    """A typed change to a host. `do` is its tag on the wire."""


class ResourceAction(Action, frozen=True):
    """A change to a resource other than a file, by the host's own tools. Its first field names the resource."""


A = TypeVar("A", bound=ResourceAction)


@dataclass(frozen=True)
class Objection:
    clause: str
    reason: str


@dataclass(frozen=True)
class ResourceState:
    """The state of a resource before and after, in the host's words; empty if it is absent."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class ForeseenStates:
    """The states that a dry run on the host foresees."""

    states: tuple[ResourceState, ...] = ()
    needed: frozenset[str] = frozenset()
    """Packages that this program and its probes need, and accounts that log in."""
    today: int = 0
    """The host's date, in days since 1970."""
    asked: frozenset[str] = field(default=frozenset(), kw_only=True)
    """The resources that the actions name; the others are brought or taken along."""

    def iterate_names_and_states(self, kind: str) -> Iterator[tuple[str, ResourceState]]:
        """Yield the name and the state of each resource of the kind."""
        for one in self.states:
            if one.name.startswith(f"{kind}:"):
                yield one.name.removeprefix(f"{kind}:"), one


@dataclass(frozen=True)
class RuleTexts:
    """What a rule says, to find the resources that it names."""

    id: str
    """In some content the id says more than the texts."""
    text: str
    accounts: tuple[str, ...] = ()
    """The host's accounts."""


@dataclass(frozen=True)
class HostState:
    """What the host says of a resource before anything is planned."""

    text: str
    version: str = ""
    """The version that could be installed."""
    has_systemd: bool = False


@dataclass(frozen=True)
class ShellCommands:
    """Commands for sh, for playbook and script. `look` exits 0 if the change is already made.

    `do` can keep what `undo` needs in the folder $TEMPER_KEPT_IN, which is new for each rule and may not exist yet.
    """

    look: str
    do: str
    undo: str
    paths: tuple[str, ...] = ()
    """Files that it writes, to be backed up and restored."""


def match_state(wanted: str, found: str) -> bool:
    return wanted in (found, NOT_FORESEEN)


@dataclass(frozen=True, kw_only=True)
class ResourceKind(Generic[A]):
    """One kind. The host's part is app/targets/ssh/remote/NAME.sh; resources.sh says what that must define."""

    name: str
    """The word before the colon in plans, diffs and journals, such as `unit` in `unit:sshd.service`."""
    actions: tuple[type[A], ...]
    find_candidates: Callable[[RuleTexts], Iterable[A]] | None
    """Find the actions that a rule's texts could want; the host says which are possible. None: no role proposes any."""
    is_possible: Callable[[A, HostState], bool]
    list_words: Callable[[A], Sequence[str]]
    """List the words that tell the host's part what to do with the resource, none with a blank."""
    judge_states: Callable[[ForeseenStates], Objection | None]
    """Judge everything of this kind that the whole change would do."""
    build_commands: Callable[[A, Sequence[str]], Sequence[ShellCommands] | str]
    """Build the commands from an action and the names of all that changed, or say why another host cannot repeat it.

    An action of several steps has commands for each, so that only the steps that a host lacked are undone there.
    """
    judge_action: Callable[[A], Objection | None] = lambda _: None
    """Judge the action before the host is asked anything."""
    match_state: Callable[[str, str], bool] = match_state
    """Return True if the state that was found is the one that was foreseen."""
    list_touched: Callable[[A], Sequence[str]] = lambda _: ()
    """List the paths that it changes where the host's scripts do not watch: without it they would be drift."""
    services: tuple[str, ...] = ()
    """Services that read what it changes: they are reloaded within the change."""
    hazard: str = "something else"
    """A word of app/loop/risk.py, for approval policies."""
    alone: str = ""
    """Why no other action may be in the same change; empty if some may."""

    @property
    def prefix(self) -> str:
        return f"{self.name}:"
