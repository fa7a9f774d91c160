"""All that the simulator knows of the world: what stands in the prompt, like any model."""

import re
from dataclasses import dataclass, field

_RULE = re.compile(r"Rule: (\S+)")
_ATTEMPT = re.compile(r"Attempt: (\d{1,6})")
_CHOSEN = re.compile(r"The site chose (\S+) where (\S+) is usual\.")
_NUMBERED = re.compile(r"(\d{1,6}): (.*)")
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

    def as_chosen(self, text: str) -> str:
        """The script's words have the usual value; where the rule says that the site chose another, that one."""
        chosen = _CHOSEN.search(self.sections.get("Requirement", ""))
        return re.sub(rf"\b{re.escape(chosen[2])}\b", lambda _: chosen[1], text) if chosen else text

    def number(self, path: str, line: str) -> int | None:
        """Of the line in a file as it is shown."""
        return next((number for number, shown in self._shown(path) if shown == line.rstrip()), None)

    def with_more(self, path: str, old: str, new: str) -> tuple[int | None, str]:
        """What `new` adds to `old`, added to the one line that says all that `old` does and more."""
        if new.startswith(old):
            alike = [one for one in self._shown(path) if set(old.split()) <= set(one[1].split())]
            if len(alike) == 1:
                number, line = alike[0]
                return number, line + new.removeprefix(old)
        return None, new

    def _shown(self, path: str) -> list[tuple[int, str]]:
        found = (match for one in self.lines(f"File {path}") if (match := _NUMBERED.fullmatch(one)))
        return [(int(match[1]), match[2].rstrip()) for match in found]


def read_prompt(purpose: str, text: str) -> PromptRead:
    sections, said = _parts(text)
    rule = next((match[1] for line in said if (match := _RULE.match(line))), "")
    attempt = next((int(match[1]) for line in said if (match := _ATTEMPT.match(line))), 1)
    return PromptRead(purpose=purpose, rule=rule, attempt=attempt, sections=sections)


def _parts(text: str) -> tuple[dict[str, str], list[str]]:
    """Sections, and the lines that are ours. What stands in a host's text is no heading: files may hold any line."""
    sections: dict[str, list[str]] = {}
    body: list[str] = []
    said: list[str] = []
    quoted = False
    for line in text.split("\n"):
        if line.startswith("## ") and not quoted:
            body = sections.setdefault(line[3:].strip(), [])
            continue
        begins = _HOST_BEGINS in line
        if not quoted and not begins:
            said.append(line)
        quoted = (quoted or begins) and _HOST_ENDS not in line
        body.append(line.replace(_HOST_BEGINS, "").replace(_HOST_ENDS, ""))
    return {heading: "\n".join(lines).strip() for heading, lines in sections.items()}, said
