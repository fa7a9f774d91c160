"""A value of a skill that is the site's to choose, within what the rules allow."""

import re
from dataclasses import dataclass
from typing import Literal

from app.text.clean import clean

Kind = Literal["number", "text", "boolean"]
LONGEST = 4000
_NUMBER = re.compile(r"-?\d{1,18}")


@dataclass(frozen=True)
class Parameter:
    name: str
    title: str
    usual: str
    """What counts where nobody set another; empty is none."""
    rules: tuple[str, ...]
    """That go by it."""
    kind: Kind = "number"
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    """All that it may be; empty is anything of its kind."""
    stated: str = ""
    """The bound, in a sentence, with who states it."""

    def refuses(self, value: str) -> str:
        """Why it may not be that, in a sentence; empty where it may."""
        shown = f"{clean(value, 60)!a} will not do for {self.name}"
        if not value.strip() or len(value) > LONGEST or clean(value, LONGEST) != value:
            return f"{shown}: it has 1 to {LONGEST} characters, and none that nobody can see."
        if self.choices and value not in self.choices:
            return f"{shown}: choose {' or '.join(self.choices)}.{self._stated}"
        if self.kind == "number":
            return self._outside(value, shown)
        return ""

    def _outside(self, value: str, shown: str) -> str:
        if not _NUMBER.fullmatch(value):
            return f"{shown}: it takes a whole number.{self._stated}"
        number = int(value)
        if self.least is not None and number < self.least:
            return f"{shown}: {self.least:g} is the least.{self._stated}"
        if self.most is not None and number > self.most:
            return f"{shown}: {self.most:g} is the most.{self._stated}"
        return ""

    @property
    def _stated(self) -> str:
        return f" {self.stated}" if self.stated else ""

    @property
    def bounds(self) -> str:
        """What it may be, in a few words."""
        if self.choices:
            return " or ".join(self.choices)
        if self.least is not None and self.most is not None:
            return f"{self.least:g} to {self.most:g}"
        if self.least is not None:
            return f"{self.least:g} or more"
        if self.most is not None:
            return f"{self.most:g} or less"
        return {"number": "a whole number", "text": "text", "boolean": "true or false"}[self.kind]
