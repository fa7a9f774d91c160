"""Find the line numbers of TOML tables and keys for error messages; tomllib does not report them."""

import re
import tomllib
from pathlib import Path
from typing import Any

from app.errors import BadInput

_HEADER = re.compile(r"^\s*\[{1,2}\s*([^\[\]\s](?:[^\[\]]*[^\[\]\s])?)\s*\]{1,2}\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z0-9_-]+))\s*[.=]""")
_PART = re.compile(r""""([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)""")
_SYNTAX_ERROR = re.compile(r"^(?P<what>.*) \(at line (?P<line>\d+), column \d+\)$")

Table = tuple[str, ...]
"""Path of a table, such as ("engines", "gemma-31b"), or ("gpus", "1") for the second [[gpus]]."""


class TomlLines:
    def __init__(self, text: str) -> None:
        self._tables: dict[Table, int] = {}
        self._keys: dict[tuple[Table, str], int] = {}
        table: Table = ()
        for number, line in enumerate(text.split("\n"), start=1):
            if header := _HEADER.match(line):
                table = self._open_table(header[1], array=line.lstrip().startswith("[["))
                self._tables.setdefault(table, number)
            elif key := _KEY.match(line):
                self._keys.setdefault((table, key[1] or key[2] or key[3]), number)

    def find_line(self, table: Table, key: str = "") -> int:
        """Return the line of a key, else of its table, else of the enclosing table."""
        found = self._keys.get((table, key)) or self._tables.get((*table, key)) or self._tables.get(table)
        if found:
            return found
        return self.find_line(table[:-1], table[-1]) if table else 1

    def _open_table(self, header: str, *, array: bool) -> Table:
        table = tuple(quoted or single or bare for quoted, single, bare in _PART.findall(header))
        if not array:
            return table
        count = sum(1 for known in self._tables if known[:-1] == table)
        return (*table, str(count))


def parse_toml_document(path: Path, content: bytes, fault: type[BadInput]) -> tuple[str, dict[str, Any]]:
    """Return the text and the parsed document. Raise `fault` with the line number if it is invalid."""
    try:
        text = content.decode().replace("\r\n", "\n")
        return text, tomllib.loads(text)
    except UnicodeDecodeError as exc:
        raise fault(f"{path} is not UTF-8 text: save it as UTF-8.") from exc
    except tomllib.TOMLDecodeError as exc:
        line, what = _parse_syntax_error(str(exc))
        raise fault(f"{path}:{line}: this is not TOML: {what}.") from exc


def _parse_syntax_error(message: str) -> tuple[int, str]:
    """Split tomllib's message into line number and text."""
    if found := _SYNTAX_ERROR.match(message):
        return int(found["line"]), found["what"]
    return 1, message
