"""Read TOML documents so that each error is one sentence with its line number; tomllib does not report lines."""

import difflib
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from app.errors import BadInput

_HEADER = re.compile(r"^\s*\[{1,2}\s*([^\[\]\s](?:[^\[\]]*[^\[\]\s])?)\s*\]{1,2}\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z0-9_-]+))\s*[.=]""")
_PART = re.compile(r""""([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)""")
_SYNTAX_ERROR = re.compile(r"^(?P<what>.*) \(at line (?P<line>\d+), column \d+\)$")

Table = tuple[str, ...]
"""Path of a table, such as ("engines", "gemma-31b"), or ("gpus", "1") for the second [[gpus]]."""


class TomlReader:
    error: ClassVar[type[BadInput]] = BadInput
    """Error for an invalid document."""

    def __init__(self, path: Path, content: bytes) -> None:
        """Parse the content. Raise `error` with the line number if it is not TOML."""
        self.path = path
        try:
            text = content.decode().replace("\r\n", "\n")
            self.document: dict[str, Any] = tomllib.loads(text)
        except UnicodeDecodeError as exc:
            raise self.error(f"{path} is not UTF-8 text: save it as UTF-8.") from exc
        except tomllib.TOMLDecodeError as exc:
            found = _SYNTAX_ERROR.match(str(exc))
            line, what = (found["line"], found["what"]) if found else (1, exc)
            raise self.error(f"{path}:{line}: this is not TOML: {what}.") from exc
        self.lines = TomlLines(text)

    def check_keys(self, table_path: Table, table: Iterable[str], names: Iterable[str]) -> None:
        names = tuple(names)
        for key in table:
            if key not in names:
                suggestion = format_suggestion_or_choices(key, names)
                self.reject(table_path, key, f"{key!r} is not a key of this table: {suggestion}")

    def reject(self, table_path: Table, key: str, sentence: str) -> NoReturn:
        """Raise `error` with the sentence and the line of the key."""
        end = "" if sentence.endswith("?") else "."
        raise self.error(f"{self.path}:{self.lines.get_line_number(table_path, key)}: {sentence}{end}")


class TomlLines:
    """The line numbers of a document's tables and keys."""

    def __init__(self, text: str) -> None:
        self._tables: dict[Table, int] = {}
        self._keys: dict[tuple[Table, str], int] = {}
        table: Table = ()
        for number, line in enumerate(text.split("\n"), start=1):
            if header := _HEADER.match(line):
                table = self._parse_table_path_with_array_index(header[1], is_array=line.lstrip().startswith("[["))
                self._tables.setdefault(table, number)
            elif key := _KEY.match(line):
                self._keys.setdefault((table, key[1] or key[2] or key[3]), number)

    def get_line_number(self, table_path: Table, key: str = "") -> int:
        """Return the line of a key, else of its table, else of the enclosing table."""
        of_key = self._keys.get((table_path, key)) or self._tables.get((*table_path, key))
        if found := of_key or self._tables.get(table_path):
            return found
        return self.get_line_number(table_path[:-1], table_path[-1]) if table_path else 1

    def _parse_table_path_with_array_index(self, text_in_brackets: str, *, is_array: bool) -> Table:
        table = tuple(quoted or single or bare for quoted, single, bare in _PART.findall(text_in_brackets))
        if not is_array:
            return table
        count = sum(1 for known in self._tables if known[:-1] == table)
        return (*table, str(count))


def format_suggestion_or_choices(name: str, names: Iterable[str]) -> str:
    """Return which of the names may be meant, for the end of a sentence."""
    names = tuple(names)
    if near := difflib.get_close_matches(name, sorted(names), n=1):
        return f"did you mean {near[0]!r}?"
    return f"choose one of {', '.join(names)}" if names else "there are none yet"
