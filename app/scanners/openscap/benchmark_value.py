"""A benchmark value that rules use: its choices and limits."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.scanners.openscap.safe_xml import Element, join_text
from app.text.clean import clean_text

_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,9})?")
_LONGEST = 4000


@dataclass(frozen=True)
class BenchmarkValue:
    id: str
    kind: str
    """number, string or boolean."""
    title: str
    choices: Mapping[str, str] = field(default_factory=dict)
    """Values by selector; the empty selector is the default."""
    least: str = ""
    most: str = ""
    only: tuple[str, ...] = ()
    """The only accepted values, if the content restricts them."""

    def explain_refusal(self, text: str) -> str:
        """Return why the value is not accepted, or "" if it is."""
        text = text.strip()
        if len(text) > _LONGEST or clean_text(text, _LONGEST) != text:
            return f"a value has {_LONGEST} characters at the most, and none that nobody can see"
        if self.kind == "number" and not _NUMBER.fullmatch(text):
            return "it takes a number"
        if self.kind == "boolean" and text not in ("true", "false", "0", "1"):
            return "it takes true or false"
        if self.least and self.kind == "number" and float(text) < float(self.least):
            return f"the content wants {self.least} at the least"
        if self.most and self.kind == "number" and float(text) > float(self.most):
            return f"the content wants {self.most} at the most"
        if self.only and text not in self.only:
            return f"the content takes one of {', '.join(self.only)[:300]}"
        return ""


def parse_value(value_element: Element) -> BenchmarkValue:
    def read_child_text(tag: str) -> str:
        return clean_text(" ".join(join_text(value_element.find(f"{{*}}{tag}")).split()), 1000)

    said = value_element.findall("{*}choices")
    must = [each for each in said if each.get("mustMatch") == "true" and not each.get("selector")]
    return BenchmarkValue(
        id=value_element.get("id", ""),
        kind=value_element.get("type", "string"),
        title=read_child_text("title"),
        choices={each.get("selector", ""): each.text or "" for each in value_element.findall("{*}value")},
        least=_blank_unless_number(read_child_text("lower-bound")),
        most=_blank_unless_number(read_child_text("upper-bound")),
        only=tuple((each.text or "").strip() for each in (must[0].findall("{*}choice") if must else ())),
    )


def _blank_unless_number(text: str) -> str:
    return text if _NUMBER.fullmatch(text) else ""
