"""Small changes to a source file, each of which a test should notice."""

import ast
import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAIRS = (
    (ast.Eq, ast.NotEq),
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.In, ast.NotIn),
    (ast.Is, ast.IsNot),
    (ast.And, ast.Or),
    (ast.Add, ast.Sub),
)
SWAPPED = {one: other for pair in PAIRS for one, other in (pair, pair[::-1])}
SAYING = ("log", "print", "warnings")
"""What is called by these names only says something."""
PROVEN = ("assert_never",)
"""What is called by these names is never reached: the type checker proves it, and no test can."""


@dataclass(frozen=True)
class Mutant:
    """Bytes of a file from `begin` to `end`, and what stands in their place."""

    path: Path
    begin: int
    end: int
    text: str

    def apply(self, source: bytes) -> bytes:
        return source[: self.begin] + self.text.encode() + source[self.end :]

    def show_diff(self, source: bytes) -> str:
        old, new = (text.decode().splitlines(keepends=True) for text in (source, self.apply(source)))
        return "".join(difflib.unified_diff(old, new, str(self.path), str(self.path), n=2))


def find_mutants(path: Path, source: bytes) -> list[Mutant]:
    """Return every mutant of a file, in the order of its lines."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    found = set()
    for node, text in _walk(ast.parse(source)):
        begin, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        found.add(Mutant(path, begin, end, text))
    return sorted(found, key=lambda one: (one.begin, one.end, one.text))


def _walk(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Nodes with what may stand in their place. Decorators, annotations, asserts and what only says something are no
    behaviour that a test could hold; parts of an f-string have no place of their own before Python 3.12. The `strict`
    of a zip is an assert, too: it asserts that both are of one length."""
    if isinstance(node, ast.Assert | ast.JoinedStr) or _only_says(node):
        return
    yield from _replacements(node)
    for name, value in ast.iter_fields(node):
        if name in ("decorator_list", "annotation", "returns") or (name == "keywords" and not _passes_values(node)):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child)


def _passes_values(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id == "zip")


def _only_says(node: ast.AST) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Constant):
        return True
    names = (
        {one.id for one in ast.walk(call.func) if isinstance(one, ast.Name)} if isinstance(call, ast.Call) else set()
    )
    return bool(names & {*SAYING, *PROVEN})


def _replacements(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in SWAPPED:
            yield node, f"({ast.unparse(ast.Compare(node.left, [SWAPPED[type(op)]()], node.comparators))})"
        case ast.BoolOp():
            yield node, f"({ast.unparse(ast.BoolOp(SWAPPED[type(node.op)](), node.values))})"
            for place in range(len(node.values)):
                rest = node.values[:place] + node.values[place + 1 :]
                yield node, f"({ast.unparse(ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0])})"
        case ast.UnaryOp(op=ast.Not()):
            yield node, f"({ast.unparse(node.operand)})"
        case ast.BinOp() if type(node.op) in SWAPPED:
            yield node, f"({ast.unparse(ast.BinOp(node.left, SWAPPED[type(node.op)](), node.right))})"
        case ast.If() | ast.IfExp() | ast.While():
            yield node.test, f"(not ({ast.unparse(node.test)}))"
        case ast.comprehension():
            yield from ((test, "True") for test in node.ifs)
        case ast.Constant(value=bool()):
            yield node, str(not node.value)
        case ast.Constant(value=int() | float()):
            yield node, {0: "1", 1: "2"}.get(node.value, "0")
        case ast.MatchClass():
            yield from ((one, "_") for one in node.kwd_patterns if not isinstance(one, ast.MatchAs))
        case ast.Return(value=ast.Constant(value=None | False)):
            return  # whoever asks yes or no takes None for False; that it is not True is a mutant of its own
        case ast.Return(value=ast.expr()):
            yield node, "return None"
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign() | ast.Raise():
            yield node, "pass"
