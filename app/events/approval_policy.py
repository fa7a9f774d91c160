"""The risk of a change, and the policy for how many people approve it."""

from collections.abc import Sequence

from msgspec import Struct

from app.events.event_field_types import Category

IDENTIFIED_VIA = ("session", "token")
"""Sign-in methods that identify a person. Only such an approval counts as one of two."""


UNKNOWN_MAKER = "?"
"""Stands for who made a token of a version that did not record it."""


class Approver(Struct, frozen=True, kw_only=True):
    """Who approves, and who made the token that they use, the first one first."""

    name: str
    via: str
    made_by: tuple[str, ...] = ()

    @property
    def people(self) -> frozenset[str]:
        """The people who could have given this approval: the owner of the token, and who made it."""
        return frozenset(one.casefold() for one in (self.name, *self.made_by))

    @property
    def other_token_makers(self) -> frozenset[str]:
        """The people who made the token, without its owner."""
        return self.people - {self.name.casefold()}


class ChangeRisk(Struct, frozen=True, kw_only=True):
    category: Category
    breaks: tuple[str, ...]
    """What it could break, as named in app/loop/risk.py."""
    cuts_the_line: bool
    """It could cut the connection that a rollback needs."""
    irreversible: bool
    replayed: bool
    """It repeats a fix proven on another host."""
    vendor: bool = False
    """It runs a vendor's script."""
    warnings: tuple[str, ...] = ()
    """What a person has to know: settings that outlast a rollback, files that the policy does not judge."""


class ApprovalRule(Struct, frozen=True, kw_only=True):
    """A rule of the policy file. It matches if all set conditions are met."""

    line: int
    people: int
    category: tuple[Category, ...] = ()
    breaks: tuple[str, ...] = ()
    """One match is enough."""
    cuts_the_line: bool | None = None
    irreversible: bool | None = None
    replayed: bool | None = None

    def matches_all_conditions(self, risk: ChangeRisk) -> bool:
        return (
            (not self.category or risk.category in self.category)
            and (not self.breaks or not set(self.breaks).isdisjoint(risk.breaks))
            and self.cuts_the_line in (None, risk.cuts_the_line)
            and self.irreversible in (None, risk.irreversible)
            and self.replayed in (None, risk.replayed)
        )

    def explain_match(self, matching_risk: ChangeRisk) -> str:
        words = [f"CAT {matching_risk.category}"] if self.category else []
        words += (
            [f"could break {', '.join(one for one in matching_risk.breaks if one in self.breaks)}"]
            if self.breaks
            else []
        )
        for asked, yes, no in (
            (self.cuts_the_line, "could cut the line", "leaves the line alone"),
            (self.irreversible, "cannot be undone", "can be undone"),
            (self.replayed, "held on another host", "held nowhere yet"),
        ):
            words += [] if asked is None else [yes if asked else no]
        return ", ".join(words)


class ApprovalPolicy(Struct, frozen=True, kw_only=True):
    """A policy file. The first matching rule decides."""

    file: str
    """Base name."""
    sha256: str
    rules: tuple[ApprovalRule, ...]
    otherwise: int
    line: int
    """Line of `otherwise`."""

    @property
    def max_people(self) -> int:
        return max(self.otherwise, *(rule.people for rule in self.rules), 0)


class PeopleNeeded(Struct, frozen=True, kw_only=True):
    """How many people must approve a change, and by which rule."""

    people: int
    why: str
    by: str
    """E.g. `approvals.toml line 12`, or the built-in rule."""
    sha256: str = ""
    """SHA-256 of the file."""
    risk: ChangeRisk | None = None

    @property
    def summary(self) -> str:
        count = ("nobody", "one person", "two people")[self.people]
        return f"needs {count}: {self.why}, by {self.by}"


def describe_missing_approvals(needed_count: int, given_count: int) -> str:
    """Describe the approvals that are still missing; empty if none."""
    return f"{given_count} of {needed_count}: waits for another person" if given_count < needed_count else ""


def format_token_and_makers_suffix(token: str, token_makers: Sequence[str]) -> str:
    """Return which token was used and who made it, in brackets; empty if none was."""
    if not token:
        return ""
    makers = ", then ".join("an unknown person" if one == UNKNOWN_MAKER else one for one in token_makers)
    return f" (token {token}{f', made by {makers}' if makers else ''})"
