"""All that the simulator knows of the world: what stands in the prompt, like any model."""

import re
from dataclasses import dataclass, field

_RULE = re.compile(r"^Rule: (\S+)", re.MULTILINE)
_ATTEMPT = re.compile(r"^Attempt: (\d{1,6})", re.MULTILINE)
_HOST_BEGINS, _HOST_ENDS = "<<<HOST", "HOST>>>"


@dataclass(frozen=True)
class PromptRead:
    purpose: str
    rule: str = ""
    attempt: int = 1
    sections: dict[str, str] = field(default_factory=dict)
    """By heading, without the marks around a host's text."""

    def lines(self, heading: str) -> list[str]:
        return [line for line in self.sections.get(heading, "").split("\n") if line.strip()]


def read_prompt(purpose: str, text: str) -> PromptRead:
    rule, attempt = _RULE.search(text), _ATTEMPT.search(text)
    return PromptRead(
        purpose=purpose,
        rule=rule[1] if rule else "",
        attempt=int(attempt[1]) if attempt else 1,
        sections=_sections(text),
    )


def _sections(text: str) -> dict[str, str]:
    """A heading inside a host's text is text: logs and files may hold any line."""
    sections: dict[str, list[str]] = {}
    body: list[str] = []
    quoted = False
    for line in text.split("\n"):
        if line.startswith("## ") and not quoted:
            body = sections.setdefault(line[3:].strip(), [])
            continue
        quoted = (quoted or _HOST_BEGINS in line) and _HOST_ENDS not in line
        body.append(line.replace(_HOST_BEGINS, "").replace(_HOST_ENDS, ""))
    return {heading: "\n".join(lines).strip() for heading, lines in sections.items()}
