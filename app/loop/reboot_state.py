"""The reboot at the end of a run, as the fold of its events."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from app.events import kinds
from app.events.event_field_types import PendingSetting
from app.events.record import Recorded
from app.loop.attempt_state import Attempt, map_event_types_to_fields
from app.loop.required_approvals import count_people, list_approver_of_each_approval


class RebootProgress(Struct, frozen=True):
    """Empty in a run that reboots nothing."""

    approval: kinds.ApprovalRequested | None = None
    given: tuple[kinds.ApprovalGiven, ...] = ()
    disapproved: kinds.ApprovalRefused | None = None
    expired: kinds.ApprovalExpired | None = None
    skipped: kinds.RebootSkipped | None = None
    announced: kinds.RebootAnnounced | None = None
    announced_at: float = 0.0
    returned: kinds.RebootReturned | None = None
    lost: kinds.RebootLost | None = None
    undone: kinds.RebootUndone | None = None
    compared: kinds.RebootCompared | None = None

    @property
    def people_required(self) -> int:
        needs = self.approval.needs if self.approval else None
        return max(needs.people, 1) if needs else 1

    @property
    def is_approved(self) -> bool:
        return count_people(list_approver_of_each_approval(self.given)) >= self.people_required

    @property
    def awaits_person(self) -> bool:
        return self.approval is not None and not (self.is_approved or self.disapproved or self.expired or self.skipped)

    @property
    def is_announced_and_unskipped(self) -> bool:
        """Whether it was announced. Then it is seen through, whatever people ask for meanwhile."""
        return self.announced is not None and self.skipped is None

    @property
    def is_awaited(self) -> bool:
        """Whether the host may be away: neither has it come back nor was it given up."""
        return self.is_announced_and_unskipped and self.returned is None and self.lost is None


_FIELDS: Final = map_event_types_to_fields(RebootProgress)


def advance_reboot(reboot: RebootProgress, recorded: Recorded) -> RebootProgress:
    """Apply an event to the reboot. Approvals count only between items: an item's own are its attempt's."""
    match recorded.event:
        case kinds.ApprovalGiven() as event:
            return replace(reboot, given=(*reboot.given, event))
        case kinds.RebootAnnounced() as event:
            return replace(reboot, announced=event, announced_at=recorded.at)
        case event:
            field = _FIELDS.get(type(event))
            return replace(reboot, **{field: event}) if field else reboot


def drop_no_longer_pending_settings(attempt: Attempt | None, latest_check: kinds.InForceChecked) -> Attempt | None:
    """Return the attempt without the pending settings that the reboot brought into force."""
    if attempt is None or attempt.force is None:
        return attempt
    still: Mapping[tuple[str, str], PendingSetting] = {(one.program, one.setting): one for one in latest_check.behind}
    behind = tuple(one for one in attempt.force.behind if (one.program, one.setting) in still)
    return replace(attempt, force=replace(attempt.force, behind=behind))
