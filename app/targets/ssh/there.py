"""Runs the host's own programs on planned files, mounted over the real ones in a private namespace."""

import io
import tarfile
from collections.abc import Iterator

from app.errors import LineCut, Unusable
from app.syntax.files import Files
from app.targets.confine import ProgramOutcome
from app.targets.effects.daemon import Ask, Query
from app.targets.ssh.line import SshLine
from app.text.clean import clean

_NOT_TO_BE_HAD = 44
_SECONDS = 20.0
_MOST_OUTPUT = 1024 * 1024


def there(line: SshLine, held: Files) -> Ask:
    """Return an asker that runs programs on the host; only files that differ from `held` are sent."""

    def ask(files: Files, question: Query) -> ProgramOutcome | None:
        data = _packed(dict(_differing(files, held, question)) | {path: text.encode() for path, text in question.made})
        try:
            said = line.run("ask", question.program, *question.arguments, data=data, seconds=_SECONDS)
        except LineCut:
            raise
        except Unusable as exc:
            return ProgramOutcome(None, clean(str(exc), 300))
        return None if said.code == _NOT_TO_BE_HAD else ProgramOutcome(said.code, clean(said.text, _MOST_OUTPUT))

    return ask


def first_of(*asks: Ask) -> Ask:
    """Return an asker that stays with the first one to answer for a program: answers of two do not compare."""
    chosen: dict[str, Ask] = {}

    def ask(files: Files, question: Query) -> ProgramOutcome | None:
        for one in [chosen[question.program]] if question.program in chosen else asks:
            said = one(files, question)
            if said is not None:
                chosen[question.program] = one
                return said
        return None

    return ask


def _differing(files: Files, held: Files, question: Query) -> Iterator[tuple[str, bytes]]:
    for path in (path for pattern in question.staged for path in files.glob(pattern)):
        state = files.state(path)
        if state is not None and state != held.state(path):
            yield path, state.content


def _packed(contents: dict[str, bytes]) -> bytes:
    """Pack files as tar, readable by root only, because the program runs as root."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for path, content in contents.items():
            member = tarfile.TarInfo(path[1:])
            member.size, member.mode = len(content), 0o600
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()
