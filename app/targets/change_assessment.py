"""The assessment of a change: made when it is proposed, shown to people, and checked again before the host changes."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.errors import TemperError
from app.events.event_field_types import AnyAction
from app.syntax.host_files_protocol import Files
from app.targets.change_diff import AROUND, render_change
from app.targets.effects.settings_only_reboot_undoes import find_one_way_settings
from app.targets.files_read_once_and_recorded import CachedFiles, Read, collect_reads_again
from app.targets.overlay import Overlay
from app.targets.planned_effects_of_actions import ChangePlan, HostFiles, ProposedChange, Refusal, build_change_plan
from app.targets.policy import list_action_refusals
from app.targets.read_tracking_cache import ReadTrackingCache
from app.targets.resources.resource_dry_run import DryRun
from app.text.redaction import redact_secrets

Guard = Callable[[Sequence[AnyAction], Files, Files], list[Refusal]]
"""What the way to a host refuses beyond the policy, judged by the files before and after."""


@dataclass(frozen=True)
class Assessment:
    """What a change would do to the host as it was read, and what the policy says to it."""

    change: ProposedChange
    foreseen: DryRun
    plan: ChangePlan
    diff: str
    """Empty if the plan has an obstacle."""
    refusals: tuple[Refusal, ...]
    """Empty if the policy allows the change."""
    reads: tuple[Read, ...]
    digest: str
    """SHA-256 over everything that diff and refusals follow from: the change, the dry run and each file read."""
    one_way: tuple[str, ...] = ()
    """Settings that hold until the next boot, even after a rollback."""
    approved: bool = False
    """People have approved this diff; another one may not be applied."""
    around: str = ""
    """The diff with more of the files around the change. It is shown, and nothing is judged by it."""

    @property
    def diff_or_obstacle(self) -> str:
        """The diff, or why there is none: what an approval is for."""
        return self.diff or redact_secrets(self.plan.obstacle)

    def is_current(self, change: ProposedChange, files: HostFiles, foreseen: DryRun) -> bool:
        """Return True if the same change on these files would be assessed in the same way. It costs the reads alone."""
        try:
            return _hash_basis(change, foreseen, collect_reads_again(files, self.reads)) == self.digest
        except (TemperError, OSError, ValueError):
            return False  # a file is no longer readable: the new assessment reports it


def assess_change(
    change: ProposedChange, files: HostFiles, foreseen: DryRun, read_cache: ReadTrackingCache, guard: Guard | None
) -> Assessment:
    noting = CachedFiles(files)
    actions = change.actions
    plan = build_change_plan(actions, noting, foreseen)
    refusals = list_action_refusals(
        actions, change.allowed_paths, noting, change.asks, foreseen, read_cache, plan, change.scope
    )
    after = Overlay(noting, plan.made)
    if guard and not refusals:
        refusals = guard(actions, noting, after)
    one_way = () if refusals else find_one_way_settings(plan.made, noting, after, read_cache)
    before = {path: noting.state(path) for path in plan.made}
    diff = "" if plan.obstacle else render_change(actions, foreseen, before, plan.made)
    around = "" if plan.obstacle else render_change(actions, foreseen, before, plan.made, AROUND)
    digest = _hash_basis(change, foreseen, noting.seen)
    return Assessment(change, foreseen, plan, diff, tuple(refusals), tuple(noting.seen), digest, one_way, around=around)


def _hash_basis(change: ProposedChange, foreseen: DryRun, read_results: Mapping[Read, object]) -> str:
    """Return SHA-256 over these. The times of files are no part of it, as the policy does not know them."""
    order = vars(change) | {"allowed_paths": sorted(change.allowed_paths), "asks": sorted(change.asks)}
    dry_run = vars(foreseen) | {"needed": sorted(foreseen.needed)}
    return hashlib.sha256(repr((order, dry_run, read_results)).encode()).hexdigest()
