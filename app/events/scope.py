"""Where something that people decided holds."""

from collections.abc import Collection
from typing import Literal

from msgspec import Struct


class HostScope(Struct, frozen=True):
    """On every host, on one, or on those of a group."""

    kind: Literal["all", "host", "group"] = "all"
    name: str = ""

    def covers(self, host: str, groups: Collection[str]) -> bool:
        """`groups` are those that the host is in."""
        return self.kind == "all" or (self.name in groups if self.kind == "group" else self.name == host)

    @classmethod
    def of(cls, host: str, group: str) -> "HostScope":
        """As doors have it, where an empty word is none."""
        if group:
            return cls("group", group)
        return cls("host", host) if host else cls()

    @property
    def told(self) -> str:
        return "every host" if self.kind == "all" else f"{self.kind} {self.name}"
