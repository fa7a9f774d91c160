"""What recipes and the content propose for an item, as its pages show it."""

from collections.abc import Collection, Sequence

from msgspec import Struct

from app.events.event_field_types import Candidate, fingerprint_actions


class CandidateRow(Struct, frozen=True):
    number: int
    sources: str
    verdict: str
    """What the policy says, and what became of it."""
    kind: str
    """The style: passed, refused or muted."""
    diff: str
    is_taken: bool


def list_candidate_rows(
    candidates: Sequence[Candidate], failed_fingerprints: Collection[str], taken_number: int
) -> list[CandidateRow]:
    """Return a row for each candidate.

    `failed_fingerprints` has what failed or a person refused, `taken_number` the number that the plan takes.
    """
    rows = []
    for number, one in enumerate(candidates, 1):
        verdict, style = _describe_verdict_and_style(one, failed_fingerprints)
        rows.append(CandidateRow(number, one.sources, verdict, style, one.diff, number == taken_number))
    return rows


def _describe_verdict_and_style(candidate: Candidate, failed_fingerprints: Collection[str]) -> tuple[str, str]:
    if not candidate.actions:
        return candidate.gap, "muted"
    if candidate.refusal:
        return f"refused by the policy, {candidate.refusal}", "refused"
    if fingerprint_actions(candidate.actions) in failed_fingerprints:
        return "accepted by the policy; failed here, or a person refused it", "refused"
    return "accepted by the policy", "passed"
