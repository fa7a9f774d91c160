"""What recipes and the content propose for an item, as its pages show it."""

from collections.abc import Collection, Sequence

from msgspec import Struct

from app.events.vocabulary import Candidate, fingerprint_actions


class CandidateRow(Struct, frozen=True):
    number: int
    sources: str
    verdict: str
    """What the policy says, and what became of it."""
    kind: str
    """The style: passed, refused or muted."""
    diff: str
    is_taken: bool


def list_candidate_rows(candidates: Sequence[Candidate], tried: Collection[str], taken: int) -> list[CandidateRow]:
    """Return a row for each candidate. `tried` has what failed, `taken` the number that the plan takes."""
    return [
        CandidateRow(number, one.sources, *_describe_verdict(one, tried), one.diff, number == taken)
        for number, one in enumerate(candidates, 1)
    ]


def _describe_verdict(one: Candidate, tried: Collection[str]) -> tuple[str, str]:
    if not one.actions:
        return one.gap, "muted"
    if one.refusal:
        return f"refused by the policy, {one.refusal}", "refused"
    if fingerprint_actions(one.actions) in tried:
        return "accepted by the policy, failed here", "refused"
    return "accepted by the policy", "passed"
