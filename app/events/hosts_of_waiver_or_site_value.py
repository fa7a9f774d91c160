"""The hosts to which a waiver or site value applies."""

from collections.abc import Collection
from typing import Literal

from msgspec import Struct


class HostScope(Struct, frozen=True):
    """Every host, one host, or the hosts of a group."""

    kind: Literal["all", "host", "group"] = "all"
    name: str = ""

    def covers_host(self, host: str, groups: Collection[str]) -> bool:
        return self.kind == "all" or (self.name in groups if self.kind == "group" else self.name == host)

    @classmethod
    def from_names(cls, host: str, group: str) -> "HostScope":
        """Create a scope from names, of which an empty one is unset."""
        if group:
            return cls("group", group)
        return cls("host", host) if host else cls()

    @property
    def label(self) -> str:
        return "every host" if self.kind == "all" else f"{self.kind} {self.name}"
