"""Site parameters: values of a skill that the site chooses within bounds."""

import re
from dataclasses import dataclass
from typing import Literal

from app.text.clean import clean_text

Kind = Literal["number", "text", "boolean"]
LONGEST = 4000
_NUMBER = re.compile(r"-?\d{1,18}")


@dataclass(frozen=True)
class Parameter:
    name: str
    title: str
    usual: str
    """Default value; empty if there is none."""
    rules: tuple[str, ...]
    """The rules that use it."""
    kind: Kind = "number"
    least: int | float | None = None
    most: int | float | None = None
    choices: tuple[str, ...] = ()
    """Allowed values; empty allows any of the kind."""
    stated: str = ""
    """The bound and its source, as a sentence."""

    def explain_refusal(self, value: str) -> str:
        """Return why the value is not allowed, as a sentence, or an empty string."""
        if odd := self.explain_malformed(value):
            return odd
        start = self._format_refusal_start(value)
        if self.choices and value not in self.choices:
            return f"{start}: choose {' or '.join(self.choices)}.{self._stated_bound_with_leading_blank}"
        if self.kind == "number" and self.least is not None and int(value) < self.least:
            return f"{start}: {self.least:g} is the least.{self._stated_bound_with_leading_blank}"
        if self.kind == "number" and self.most is not None and int(value) > self.most:
            return f"{start}: {self.most:g} is the most.{self._stated_bound_with_leading_blank}"
        return ""

    def explain_malformed(self, value: str) -> str:
        """Return why the value is malformed whatever the bounds, or an empty string. Logs are untrusted."""
        start = self._format_refusal_start(value)
        if not value.strip() or len(value) > LONGEST or clean_text(value, LONGEST) != value:
            return f"{start}: it has 1 to {LONGEST} characters, and none that nobody can see."
        if self.kind == "number" and not _NUMBER.fullmatch(value):
            return f"{start}: it takes a whole number.{self._stated_bound_with_leading_blank}"
        return ""

    def _format_refusal_start(self, value: str) -> str:
        return f"{clean_text(value, 60)!a} will not do for {self.name}"

    @property
    def _stated_bound_with_leading_blank(self) -> str:
        return f" {self.stated}" if self.stated else ""

    @property
    def bounds(self) -> str:
        if self.choices:
            return " or ".join(self.choices)
        if self.least is not None and self.most is not None:
            return f"{self.least:g} to {self.most:g}"
        if self.least is not None:
            return f"{self.least:g} or more"
        if self.most is not None:
            return f"{self.most:g} or less"
        return {"number": "a whole number", "text": "text", "boolean": "true or false"}[self.kind]
