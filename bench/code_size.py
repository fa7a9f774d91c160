"""Lines of Python code by room: without blank lines, comments and docstrings.

python bench/code_size.py [FOLDER]
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

_NO_CODE = (*(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE), *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER))
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def count_code_lines(source: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    code = {line for one in tokens if one.type not in _NO_CODE for line in range(one.start[0], one.end[0] + 1)}
    return len(code - set(_iter_docstring_lines(source)))


def _iter_docstring_lines(source: str) -> Iterator[int]:
    """Yield the lines of texts that stand alone: docstrings, and those below a field."""
    for node in ast.walk(ast.parse(source)):
        for one in node.body if isinstance(node, _DOCUMENTED) else ():
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
                yield from range(one.lineno, (one.end_lineno or one.lineno) + 1)


def list_long_functions(source: str, most: int = 60) -> list[str]:
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, _DOCUMENTED[2:]))
    return [one.name for one in functions if (one.end_lineno or 0) - one.lineno + 1 > most]


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "app")
    sources = {path.relative_to(folder): path.read_text() for path in folder.rglob("*.py")}
    rooms: Counter[str] = Counter()
    for path, source in sources.items():
        rooms[path.parts[0] if len(path.parts) > 1 else "(top)"] += count_code_lines(source)
    for room, lines in rooms.most_common():
        print(f"| {room} | {lines:,} |")
    print(f"| all | {rooms.total():,} |")
    print(
        "functions over 60 lines:",
        [f"{path}: {name}" for path, s in sources.items() for name in list_long_functions(s)],
    )


if __name__ == "__main__":
    main()
