"""Parse a prompt, which like for any model is the simulator's only input."""

import re
from dataclasses import dataclass, field

_RULE = re.compile(r"Rule: (\S+)")
_ATTEMPT = re.compile(r"Attempt: (\d{1,6})")
_CHOSEN = re.compile(r"The site chose (\S+) where (\S+) is usual\.")
_NUMBERED = re.compile(r"(\d{1,6}): (.*)")
_HOST_BEGINS, _HOST_ENDS = "<<<HOST", "HOST>>>"


@dataclass(frozen=True)
class ParsedPrompt:
    purpose: str
    rule: str = ""
    attempt: int = 1
    sections: dict[str, str] = field(default_factory=dict)
    """Sections by heading, without the marks around host text."""

    @property
    def may_ask(self) -> bool:
        """Return whether questions are left and none was answered yet."""
        return self.sections.get("Questions left", "0") != "0" and "Answers" not in self.sections

    def list_lines(self, heading: str) -> list[str]:
        return [line for line in self.sections.get(heading, "").split("\n") if line.strip()]

    def replace_usual_by_site_value(self, text: str) -> str:
        """Replace the script's usual value by the site's value, if the prompt states one."""
        chosen = _CHOSEN.search(self.sections.get("Requirement", ""))
        return re.sub(rf"\b{re.escape(chosen[2])}\b", lambda _: chosen[1], text) if chosen else text

    def find_line_number(self, path: str, line: str) -> int | None:
        """Return the number of a line in a file that the prompt shows, or None."""
        return next((number for number, shown in self._list_shown_lines(path) if shown == line.rstrip()), None)

    def find_and_extend_line(self, path: str, old: str, new: str) -> tuple[int | None, str]:
        """Append what `new` adds to `old` to the only line with all words of `old`. Return its number and text."""
        if new.startswith(old):
            alike = [one for one in self._list_shown_lines(path) if set(old.split()) <= set(one[1].split())]
            if len(alike) == 1:
                number, line = alike[0]
                return number, line + new.removeprefix(old)
        return None, new

    def _list_shown_lines(self, path: str) -> list[tuple[int, str]]:
        found = (match for one in self.list_lines(f"File {path}") if (match := _NUMBERED.fullmatch(one)))
        return [(int(match[1]), match[2].rstrip()) for match in found]


def read_prompt(purpose: str, text: str) -> ParsedPrompt:
    sections, said = _split_sections_and_unquoted_lines(text)
    rule = next((match[1] for line in said if (match := _RULE.match(line))), "")
    attempt = next((int(match[1]) for line in said if (match := _ATTEMPT.match(line))), 1)
    return ParsedPrompt(purpose=purpose, rule=rule, attempt=attempt, sections=sections)


def _split_sections_and_unquoted_lines(text: str) -> tuple[dict[str, str], list[str]]:
    """Return the sections and the lines outside host text. Headings inside untrusted host text are ignored."""
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
