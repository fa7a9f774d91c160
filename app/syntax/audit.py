"""auditctl rule files: one command a line, split at spaces alone."""

from dataclasses import dataclass

from app.syntax import source
from app.syntax.setting import Setting

CONTROLS = ("-b", "-e", "-f", "-r")


@dataclass(frozen=True)
class AuditLine:
    words: tuple[str, ...]
    path: str
    line: int

    @property
    def control(self) -> Setting | None:
        """`-f 2` or `-f2`: a switch of the audit system as a whole, not a rule about files or calls."""
        name, value = self.words[0][:2], self.words[0][2:]
        if name not in CONTROLS:
            return None
        return Setting(name, " ".join([*([value] if value else []), *self.words[1:]]), self.path, self.line)


def audit_lines(text: str, path: str) -> list[AuditLine]:
    found = []
    for number, line in source.numbered(text):
        words = tuple(word for word in line.split(" ") if word)
        if words and not words[0].startswith("#") and line.strip(source.TRAIL):
            found.append(AuditLine(words, path, number))
    return found


def controls(text: str, path: str) -> list[Setting]:
    return [line.control for line in audit_lines(text, path) if line.control]
