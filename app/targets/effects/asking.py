"""Asking a program of this machine what it makes of a host's files: laid out in an empty folder, behind a wall."""

import tempfile
from pathlib import Path

from app.syntax import source
from app.syntax.files import Files
from app.targets.confine import Confinement, ProgramOutcome
from app.targets.effects.daemon import Ask, Query
from app.targets.recall import Recall


def here(confinement: Confinement, recall: Recall | None = None) -> Ask:
    """`recall` is that of the host whose files they are: a program says the same of the same files."""
    known = recall or Recall()

    def ask(files: Files, question: Query) -> ProgramOutcome | None:
        if confinement.kind == "none" or not (build := _build(question.program)):
            return None

        def said(files: Files) -> ProgramOutcome:
            with tempfile.TemporaryDirectory(prefix="temper-ask-") as folder:
                root = Path(folder)
                lay_out(root, files, question)
                return confinement.run(root, [question.program, *question.arguments])

        return known.ask((question, build), files, said, lasts=lambda outcome: outcome.code is not None)

    return ask


def _build(program: str) -> tuple[int, int] | None:
    """Another one once a program was put in its place; None where there is none."""
    try:
        found = Path(program).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def lay_out(root: Path, files: Files, question: Query) -> None:
    for path in (path for pattern in question.staged for path in files.glob(pattern)):
        state, content = files.state(path), files.read(path)
        if state is not None and content is not None:
            _lay(root, path, content, state.mode | 0o400)
    for path, text in question.made:
        _lay(root, path, source.encode(text), 0o600)


def _lay(root: Path, path: str, content: bytes, mode: int) -> None:
    at = root / path[1:]
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_bytes(content)
    at.chmod(mode)
