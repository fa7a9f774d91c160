"""Parser for profile scripts: variables that a login shell surely or possibly sets, and its umask, a command."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from app.errors import BadInput
from app.syntax import edit_lines
from app.syntax.shell_tokenizer import Token, iterate_words_and_operators

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=)(.*)", re.DOTALL)
_DECLARES = {"export", "readonly", "declare", "typeset", "local"}
_OPENS = {"if": "fi", "for": "done", "while": "done", "until": "done", "select": "done", "case": "esac", "{": "}"}
_SETS = ("umask", "pathmunge")
"""Commands whose argument is what a login starts with."""
_PASSED_OVER = {"then", "else", "elif", "do", "!", "time", "builtin", "command"}
_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,=-]*")
"""A value that the shell reads as written, without quotes."""


@dataclass(frozen=True)
class Assignment:
    name: str
    value: str
    """Unquoted if literal, else as written. Empty if unset."""
    path: str
    line: int
    surely: bool
    """Not in a condition, function or subshell, nor after a return."""
    readonly: bool = False
    unset: bool = False
    stated: bool = True
    """False for `readonly TMOUT`, which has no value."""
    start: int = 0
    end: int = 0
    """The position of the value in the text, with quotes."""


def parse_assignments(text: str, path: str) -> list[Assignment]:
    return [one for one in parse_assignments_and_readonly_names(text, path) if one.stated]


def parse_assignments_and_readonly_names(text: str, path: str) -> list[Assignment]:
    """Return assignments, and declarations that only make a variable read-only."""
    return list(_Script(text, path).read())


@dataclass
class _Script:
    text: str
    path: str
    open: list[str] = field(default_factory=list)
    left: bool = False

    def read(self) -> Iterator[Assignment]:
        words: list[Token] = []
        before = "\n"
        for token in [*iterate_words_and_operators(self.text), Token("\n", True, len(self.text), len(self.text))]:
            if not token.operator:
                words.append(token)
                continue
            surely = before not in {"&&", "||", "|"} and token.text not in {"|", "&"}
            yield from self._read_command(words, surely)
            if token.text == "(":
                self.open.append(")")
            elif token.text == ")" and self.open[-1:] == [")"]:
                self.open.pop()
            # a condition extends over the line's end: `test &&` newline `TMOUT=900`
            before = before if token.text == "\n" and not words and before in {"&&", "||", "|"} else token.text
            words = []

    def _read_command(self, words: list[Token], surely: bool) -> Iterator[Assignment]:
        words = words[self._track_and_count_reserved_words(words) :]
        if not words:
            return
        surely = surely and not self.open and not self.left
        made = [a for token in words if (a := self._parse_assignment(token, surely, readonly=False))]
        if len(made) == len(words):
            yield from made
        elif words[0].text in _DECLARES:
            yield from self._read_declaration(words, surely)
        elif words[0].text == "unset":
            for token in words[1:]:
                yield Assignment(token.text, "", self.path, self._get_line(token.start), surely, unset=True)
        elif words[0].text in _SETS and (found := [word for word in words[1:] if not word.text.startswith("-")]):
            yield self._parse_umask_or_pathmunge(words[0].text, found[0], surely)
        elif words[0].text in {"return", "exit", "exec"} and surely:
            self.left = True

    def _track_and_count_reserved_words(self, words: list[Token]) -> int:
        """Return how many leading words open, close or skip a compound command."""
        for at, token in enumerate(words):
            if token.text in _OPENS:
                self.open.append(_OPENS[token.text])
            elif token.text in self.open[-1:]:
                self.open.pop()
            elif token.text not in _PASSED_OVER:
                return at
        return len(words)

    def _read_declaration(self, words: list[Token], surely: bool) -> Iterator[Assignment]:
        flags = "".join(word.text for word in words[1:] if word.text.startswith("-"))
        readonly = words[0].text == "readonly" or "r" in flags
        for token in words[1:]:
            if made := self._parse_assignment(token, surely, readonly):
                yield made
            elif readonly and token.text.isidentifier():
                yield Assignment(token.text, "", self.path, self._get_line(token.start), surely, readonly, stated=False)

    def _parse_umask_or_pathmunge(self, command: str, word: Token, unconditional: bool) -> Assignment:
        """Return `umask 077` as a value of umask, and `pathmunge FOLDER` of Red Hat's profile as one of PATH."""
        value = _unquote_literal_or_keep(word.text)
        name, value = (command, value) if command == "umask" else ("PATH", f"$PATH:{value}")
        return Assignment(
            name, value, self.path, self._get_line(word.start), unconditional, start=word.start, end=word.end
        )

    def _parse_assignment(self, word: Token, surely: bool, readonly: bool) -> Assignment | None:
        match = _ASSIGNMENT.fullmatch(word.text)
        if match is None:
            return None
        start = word.start + match.start(3)
        value = _unquote_literal_or_keep(match[3]) if match[2] == "=" else word.text
        line = self._get_line(word.start)
        name = "$umask" if match[1] == "umask" else match[1]  # a variable without effect: the umask is set by a command
        return Assignment(name, value, self.path, line, surely, readonly, start=start, end=word.end)

    def _get_line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1


def _unquote_literal_or_keep(raw: str) -> str:
    return raw[1:-1] if re.fullmatch(r"'[^']*'|\"[^\"$`\\]*\"", raw) else raw


def find_unconditionally_assigned_value(text: str, key: str) -> str | None:
    value = None
    for found in parse_assignments(text, ""):
        if found.name == key and (found.surely or found.unset):
            value = None if found.unset else found.value
    return value


def put_variable(text: str, key: str, plain_word: str) -> str:
    if not _PLAIN.fullmatch(plain_word) or not key.isidentifier() or not key.isascii():
        raise BadInput("a script takes a plain name and a plain word as value; write anything else with write_file")
    given = [a for a in parse_assignments(text, "") if a.name == key and not a.unset]
    for found in reversed(given):
        text = text[: found.start] + plain_word + text[found.end :]
    if not any(found.surely for found in given):
        line = f"umask {plain_word}" if key == "umask" else f"{key}={plain_word}"
        return edit_lines.replace_or_insert_line(text, line, None, (), edit_lines.get_index_after_all_lines(text))
    return text
