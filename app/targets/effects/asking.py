"""Asking a program of this machine what it makes of a host's files: laid out in an empty folder, behind a wall."""

import tempfile
from pathlib import Path

from app.syntax import source
from app.syntax.files import Files
from app.targets.confine import Confinement, ProgramOutcome
from app.targets.effects.daemon import Ask, Query


def here(confinement: Confinement) -> Ask:
    def ask(files: Files, question: Query) -> ProgramOutcome | None:
        if confinement.kind == "none" or not Path(question.program).exists():
            return None
        with tempfile.TemporaryDirectory(prefix="temper-ask-") as folder:
            root = Path(folder)
            lay_out(root, files, question)
            return confinement.run(root, [question.program, *question.arguments])

    return ask


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
