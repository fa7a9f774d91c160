"""The words of sudoers: names, lists, commands with their arguments, and what a backslash or a quote does to each."""

import re
from collections.abc import Iterator

TAGS_TEXT = (
    "NOPASSWD PASSWD NOEXEC EXEC NOSETENV SETENV NOLOG_INPUT LOG_INPUT NOLOG_OUTPUT LOG_OUTPUT NOMAIL MAIL "
    "NOFOLLOW FOLLOW NOINTERCEPT INTERCEPT"
)
TAGS = tuple(TAGS_TEXT.split())
_BLANKS = re.compile(r"[ \t]*")
_END = re.compile(r"\r?|#(?!-?[0-9]).*", re.DOTALL)
"""Of a line: a quote hides no comment from sudo where it stands among a command's arguments."""
_QUOTED = re.compile(r'"((?:\\.|[^"\\])+)"', re.DOTALL)
_WORD = re.compile(r'(?:[^#>!=:,() \t\r\n\\"]|\\[^\t\n])+')
_ID = re.compile(r"#-?[0-9]+")
_GROUP = re.compile(r'%:?(?:#-?[0-9]+|(?:[^#>!=:,() \t\r\n\\"]|\\[^\t\n])+)')
_ADDRESS = re.compile(r"(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?:/[0-9A-Fa-f:]+)?(?![A-Za-z0-9_.-])")
_PATH = re.compile(r"/(?:\\[,:= \t#]|[^,:=\\ \t\r\n#])+")
_REGEX = re.compile(r"\^(?:\\[#$]|[^#\r\n$])*\$")
_EDIT = re.compile(r"sudoedit(?![A-Za-z0-9_.-])")
_ALIAS = re.compile(r"[A-Z][A-Z0-9_]*")
_ARGUMENT = re.compile(r"(?:\\[*?\[\]!^]|\\[:\\,= \t#]|[^#\\:, \t\r\n])+")
_SPECIAL = re.compile(r"\\([,:= \t#])")
_IN_ARGUMENTS = re.compile(r"\\([:\\,= \t#])")
_PLAIN_VALUE = re.compile(r'(?:[^#!=, \t\r\n\\"]|\\[^\r\n])(?:[^#=, \t\r\n\\"]|\\[^\r\n])*')
_HEX = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|(.))", re.DOTALL)


class BrokenSudoers(Exception):
    """Here sudo would say: syntax error."""


class SudoersScan:
    """A line, and how far it has been read. Blanks ahead of a token count for nothing."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._at = 0

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self.blanks()
        found = pattern.match(self._line, self._at)
        if found:
            self._at = found.end()
        return found

    def expect(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = self.match(pattern)
        if found is None:
            raise BrokenSudoers
        return found

    def blanks(self) -> None:
        found = _BLANKS.match(self._line, self._at)
        self._at = found.end() if found else self._at

    def ended(self) -> bool:
        self.blanks()
        return bool(_END.fullmatch(self._line, self._at))

    def any_of(self, marks: str) -> str:
        self.blanks()
        mark = self._line[self._at : self._at + 1]
        if not mark or mark not in marks:
            return ""
        self._at += 1
        return mark

    def listed(self) -> Iterator[None]:
        """Once for each part of a list, which goes on for as long as a comma follows."""
        yield
        while self.any_of(","):
            yield

    def to_the_end(self, mark: str) -> Iterator[None]:
        """Once for each part of what fills the line, parted by `mark`."""
        yield
        while not self.ended():
            if not self.any_of(mark):
                raise BrokenSudoers
            yield

    def bangs(self) -> bool:
        """Whether what follows is negated: each of two bangs undoes the other."""
        negated = False
        while self.any_of("!"):
            negated = not negated
        return negated

    def members(self, *, hosts: bool = False) -> list[str]:
        """A list of users, groups or hosts, each with a bang where it is excluded."""
        found = []
        for _ in self.listed():
            bang = "!" if self.bangs() else ""
            found.append(bang + self._member(hosts=hosts))
        return found

    def _member(self, *, hosts: bool) -> str:
        quoted = self.match(_QUOTED)
        if quoted:
            return unescaped(quoted[1])
        found = (self.match(_ADDRESS) if hosts else None) or self.match(_GROUP) or self.match(_ID)
        return unescaped((found or self.expect(_WORD))[0])

    def runas(self) -> str | None:
        """What stands between parentheses: users, and groups behind a colon. None where there are none."""
        if not self.any_of("("):
            return None
        users = groups = ""
        if not self.any_of(":"):
            if self.any_of(")"):
                return " "
            users = ", ".join(self.members())
            if self.any_of(")"):
                return users
            if not self.any_of(":"):
                raise BrokenSudoers
        if not self.any_of(")"):
            groups = ", ".join(self.members())
            if not self.any_of(")"):
                raise BrokenSudoers
        return f"{users} : {groups}" if groups else users or " "

    def command(self) -> str:
        bang = "!" if self.bangs() else ""
        edits = self.match(_EDIT)
        path = None if edits else self.match(_PATH)
        regex = None if edits or path else self.match(_REGEX)
        if not (edits or path or regex):
            return bang + self.expect(_ALIAS)[0]
        named = edits[0] if edits else _SPECIAL.sub(r"\1", path[0]) if path else regex[0] if regex else ""
        if named.endswith("/sudoedit"):
            named = "sudoedit"
        arguments = [] if path and named.endswith("/") else self._arguments()
        return " ".join((bang + named, *arguments))

    def commands_of_defaults(self) -> list[str]:
        """Without arguments, which `Defaults!` does not take."""
        found = []
        while True:
            bang = "!" if self.bangs() else ""
            path = self.match(_EDIT) or self.match(_PATH) or self.match(_REGEX) or self.expect(_ALIAS)
            found.append(bang + _SPECIAL.sub(r"\1", path[0]))
            if not self.any_of(","):
                return found

    def _arguments(self) -> list[str]:
        self.blanks()
        regex = self.match(_REGEX) if self._line.startswith("^", self._at) else None
        if regex:
            return [regex[0]]
        found = []
        while argument := self.match(_ARGUMENT):
            if argument[0] == "=":
                raise BrokenSudoers
            found.append(_IN_ARGUMENTS.sub(r"\1", argument[0]))
        if self._line.startswith("\r", self._at):
            raise BrokenSudoers  # sudo loses a command that is followed by a Windows line end
        return found

    def value(self) -> str:
        quoted = self.match(_QUOTED)
        return unescaped(quoted[1] if quoted else self.expect(_PLAIN_VALUE)[0])


def unescaped(word: str) -> str:
    return _HEX.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[2], word)
