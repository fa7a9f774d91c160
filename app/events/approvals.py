"""What a change risks, and how many people that takes: as a policy file says, and as the log keeps it."""

from msgspec import Struct

from app.events.words import Category

KNOWN = ("session", "token")
"""The ways in by which somebody has said who they are: only such a yes is one of two."""


class ChangeRisk(Struct, frozen=True, kw_only=True):
    """What a proposed change risks, by its rule, its actions and where it comes from."""

    category: Category
    breaks: tuple[str, ...]
    """What it could break, in the words of app/loop/risk.py."""
    cuts_the_line: bool
    """It could end the way in by which it would be undone."""
    irreversible: bool
    replayed: bool
    """It repeats what held on another host."""
    vendor: bool = False
    """It runs a script that the vendor wrote."""


class ApprovalRule(Struct, frozen=True, kw_only=True):
    """All that it names has to be so; what it leaves out may be anything."""

    line: int
    people: int
    category: tuple[Category, ...] = ()
    breaks: tuple[str, ...] = ()
    """One of them is enough."""
    cuts_the_line: bool | None = None
    irreversible: bool | None = None
    replayed: bool | None = None

    def fits(self, risk: ChangeRisk) -> bool:
        return (
            (not self.category or risk.category in self.category)
            and (not self.breaks or not set(self.breaks).isdisjoint(risk.breaks))
            and self.cuts_the_line in (None, risk.cuts_the_line)
            and self.irreversible in (None, risk.irreversible)
            and self.replayed in (None, risk.replayed)
        )

    def why(self, risk: ChangeRisk) -> str:
        """What of the risk made it fit, in words."""
        said = [f"CAT {risk.category}"] if self.category else []
        said += [f"could break {', '.join(one for one in risk.breaks if one in self.breaks)}"] if self.breaks else []
        for asked, yes, no in (
            (self.cuts_the_line, "could cut the line", "leaves the line alone"),
            (self.irreversible, "cannot be undone", "can be undone"),
            (self.replayed, "held on another host", "held nowhere yet"),
        ):
            said += [] if asked is None else [yes if asked else no]
        return ", ".join(said)


class ApprovalPolicy(Struct, frozen=True, kw_only=True):
    """A policy file, whole. The first rule that fits decides."""

    file: str
    """Its name, without the folders."""
    sha256: str
    rules: tuple[ApprovalRule, ...]
    otherwise: int
    line: int
    """Where `otherwise` stands."""

    @property
    def most(self) -> int:
        return max(self.otherwise, *(rule.people for rule in self.rules), 0)


class PeopleNeeded(Struct, frozen=True, kw_only=True):
    """How many people a change takes, and which rule says so."""

    people: int
    why: str
    by: str
    """approvals.toml line 12; or what asks where no file does."""
    sha256: str = ""
    """Of the file."""
    risk: ChangeRisk | None = None

    @property
    def said(self) -> str:
        count = ("nobody", "one person", "two people")[self.people]
        return f"needs {count}: {self.why}, by {self.by}"
