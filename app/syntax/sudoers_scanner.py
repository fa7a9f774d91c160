"""Scanner for the words of sudoers: names, lists, commands and arguments, with their escapes."""

import re
from collections.abc import Iterator

from app.syntax.host_text import BLANK, skip_letters, split_blank_separated_names

TAGS = split_blank_separated_names("""
    NOPASSWD PASSWD NOEXEC EXEC NOSETENV SETENV NOLOG_INPUT LOG_INPUT NOLOG_OUTPUT LOG_OUTPUT NOMAIL MAIL
    NOFOLLOW FOLLOW NOINTERCEPT INTERCEPT
""")
_END = re.compile(r"\r?|#(?!-?[0-9]).*", re.DOTALL)
"""The end of a line: in a command's arguments, a quote does not hide a comment."""
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


class SudoersSyntaxError(Exception):
    """sudo would report a syntax error."""


class SudoersScanner:
    """A line with a reading position. Blanks before a token are skipped."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._at = 0

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self.skip_blanks()
        found = pattern.match(self._line, self._at)
        if found:
            self._at = found.end()
        return found

    def expect(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = self.match(pattern)
        if found is None:
            raise SudoersSyntaxError
        return found

    def skip_blanks(self) -> None:
        self._at = skip_letters(self._line, self._at, BLANK)

    def is_at_end_or_comment(self) -> bool:
        self.skip_blanks()
        return bool(_END.fullmatch(self._line, self._at))

    def take_mark(self, marks: str) -> str:
        self.skip_blanks()
        mark = self._line[self._at : self._at + 1]
        if not mark or mark not in marks:
            return ""
        self._at += 1
        return mark

    def step_through_comma_separated_list(self) -> Iterator[None]:
        """Yield once per item of a comma-separated list."""
        yield
        while self.take_mark(","):
            yield

    def yield_at_each_part(self, mark: str) -> Iterator[None]:
        """Yield once per part of the line, separated by `mark`; raise SudoersSyntaxError for other text."""
        yield
        while not self.is_at_end_or_comment():
            if not self.take_mark(mark):
                raise SudoersSyntaxError
            yield

    def read_negation(self) -> bool:
        """Return True if an odd number of bangs follows."""
        negated = False
        while self.take_mark("!"):
            negated = not negated
        return negated

    def read_members(self, *, are_hosts: bool = False) -> list[str]:
        """Read a list of users, groups or hosts; excluded ones keep a bang."""
        found = []
        for _ in self.step_through_comma_separated_list():
            bang = "!" if self.read_negation() else ""
            found.append(bang + self._read_member_after_negation(is_host=are_hosts))
        return found

    def _read_member_after_negation(self, *, is_host: bool) -> str:
        quoted = self.match(_QUOTED)
        if quoted:
            return resolve_backslash_escapes(quoted[1])
        found = (self.match(_ADDRESS) if is_host else None) or self.match(_GROUP) or self.match(_ID)
        return resolve_backslash_escapes((found or self.expect(_WORD))[0])

    def read_runas_if_present(self) -> str | None:
        """Read the runas part in parentheses: users, and groups after a colon. None without parentheses."""
        if not self.take_mark("("):
            return None
        users = groups = ""
        if not self.take_mark(":"):
            if self.take_mark(")"):
                return " "
            users = ", ".join(self.read_members())
            if self.take_mark(")"):
                return users
            if not self.take_mark(":"):
                raise SudoersSyntaxError
        if not self.take_mark(")"):
            groups = ", ".join(self.read_members())
            if not self.take_mark(")"):
                raise SudoersSyntaxError
        return f"{users} : {groups}" if groups else users or " "

    def read_command(self) -> str:
        bang = "!" if self.read_negation() else ""
        edits = self.match(_EDIT)
        path = None if edits else self.match(_PATH)
        regex = None if edits or path else self.match(_REGEX)
        if not (edits or path or regex):
            return bang + self.expect(_ALIAS)[0]
        named = edits[0] if edits else _SPECIAL.sub(r"\1", path[0]) if path else regex[0] if regex else ""
        if named.endswith("/sudoedit"):
            named = "sudoedit"
        arguments = [] if path and named.endswith("/") else self._read_arguments()
        return " ".join((bang + named, *arguments))

    def read_default_commands(self) -> list[str]:
        """Read commands without arguments, which `Defaults!` does not allow."""
        found = []
        for _ in self.step_through_comma_separated_list():
            bang = "!" if self.read_negation() else ""
            path = self.match(_EDIT) or self.match(_PATH) or self.match(_REGEX) or self.expect(_ALIAS)
            found.append(bang + _SPECIAL.sub(r"\1", path[0]))
        return found

    def _read_arguments(self) -> list[str]:
        self.skip_blanks()
        regex = self.match(_REGEX) if self._line.startswith("^", self._at) else None
        if regex:
            return [regex[0]]
        found = []
        while argument := self.match(_ARGUMENT):
            if argument[0] == "=":
                raise SudoersSyntaxError
            found.append(_IN_ARGUMENTS.sub(r"\1", argument[0]))
        if self._line.startswith("\r", self._at):
            raise SudoersSyntaxError  # sudo drops a command that is followed by a Windows line end
        return found

    def read_value(self) -> str:
        quoted = self.match(_QUOTED)
        return resolve_backslash_escapes(quoted[1] if quoted else self.expect(_PLAIN_VALUE)[0])


def resolve_backslash_escapes(word: str) -> str:
    return _HEX.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[2], word)
