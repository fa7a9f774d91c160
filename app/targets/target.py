"""A target is our handle on a host. Its calls block, for minutes on a bad line; async callers use `TargetThread`."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from app.events.architect_questions_about_host import Question
from app.events.event_field_types import FileChange, Probe
from app.resources.kind import ResourceAction
from app.targets.change_assessment import Assessment
from app.targets.files_that_roles_may_see import LinkFollowingFiles
from app.targets.planned_effects_of_actions import Actions, Asks, Paths
from app.targets.read_tracking_cache import ReadTrackingCache
from app.targets.rebooter_protocol import Rebooter, RollbackResult
from app.targets.resources.available_actions import Offer
from app.targets.rule_scope import RuleScope
from app.targets.running_settings_report import InForceReport


@dataclass(frozen=True)
class AppliedChange:
    diff: str
    changes: tuple[FileChange, ...]
    seconds: float


class Target(Protocol):
    name: str
    simulated: bool
    confinement: str
    """A description for the page: how commands are confined, or that there are none."""

    recall: ReadTrackingCache
    """Cached answers about the host's files."""

    @property
    def rebooter(self) -> Rebooter | None:
        """Reboots the host; None for one that does not boot."""

    @property
    def files(self) -> LinkFollowingFiles:
        """The files as last read. Those of a remote host are held here; reading them sends nothing."""

    def cache_reads(self) -> AbstractContextManager[None]:
        """Within this context each file is read at most once. Nothing may be changed meanwhile."""

    def set_rule_paths_to_fetch(self, paths: Iterable[str], /) -> None:
        """Request the files of the rules in work: a remote host's unjudged files are not read otherwise."""

    def prepare(self, *, changes: bool = True, consent: str = "", keep: bool = False) -> None:
        """Prepare the host for a run. A fixture is laid out anew, or left as it is with `keep`.

        Raise an error if a host that will be changed cannot be rolled back, unless `consent` has the right sentence.
        """

    def read_facts(self) -> dict[str, str]:
        """Return facts for the roles: system, services, accounts, and who depends on what."""

    def assess_actions(
        self, actions: Actions, allowed: Paths, asks: Asks = frozenset(), scope: RuleScope | None = None
    ) -> Assessment:
        """Return the effect of the actions on the host as it is now, tried on a copy, and the policy's answer.

        `scope` has what the rule names; None leaves the limits to the plan, for what a person wrote.
        """

    def list_resources_with_possible_actions(self, proposed: Sequence[ResourceAction], /) -> tuple[Offer, ...]:
        """List those of the actions that are possible, by resource that the host has."""

    def apply(
        self,
        journal: str,
        actions: Actions,
        allowed: Paths,
        asks: Asks = frozenset(),
        prior_assessment: Assessment | None = None,
        scope: RuleScope | None = None,
    ) -> AppliedChange:
        """Write and sync the pre-images to `journal`, then change the host as the policy allows.

        `prior_assessment` counts while nothing that it was based on has changed; otherwise the change is assessed
        anew. Raise HostDrifted if its diff is then another one than people have approved.
        """

    def roll_back(self, journal: str) -> RollbackResult:
        """Undo what `journal` holds, however far the change got. Repeatable; an unknown journal is no error."""

    def commit(self, journal: str, *, keep_images: bool = False) -> None:
        """Keep the change: its journal remains as evidence and is no longer undone.

        With `keep_images` it can be undone until the host has been rebooted (app/targets/rebooter_protocol.py).
        """

    def list_pending(self) -> list[str]:
        """List the journals that are neither committed nor rolled back, oldest first."""

    def check_health(self) -> tuple[Probe, ...]: ...

    def check_in_force(self) -> InForceReport:
        """Return the boot id and the settings that are not in force, compared with the files as last read."""

    def describe_drift(self, expected_changes: Sequence[FileChange]) -> tuple[str, ...]:
        """List the changes since `prepare` or the last commit that `expected_changes` does not explain."""

    def answer_questions(self, questions: Sequence[Question], rule_paths: Collection[str], /) -> tuple[str, ...]:
        """Return an answer to each, redacted and cut; nothing is changed. `rule_paths` has the paths of the rule.

        The caller has asked `explain_question_refusal`; an answer is empty where no host is asked.
        """

    def read_log_lines(self, limit: int) -> list[str]:
        """Return the newest lines of the host's logs, without control characters."""

    def compute_digest(self) -> str:
        """Return the sha256 over all paths, contents, modes and owners."""

    def assert_usable(self) -> None:
        """Raise an error unless the host answers and this machine can write what a change of it needs."""

    def close(self) -> None:
        """Close the connection and release other resources."""
