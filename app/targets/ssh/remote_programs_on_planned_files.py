"""Runs the host's own programs on planned files, mounted over the real ones in a private namespace."""

import io
import tarfile
from collections.abc import Iterator

from app.errors import ConnectionLost, EnvironmentUnusable
from app.syntax.host_files_protocol import Files
from app.targets.effects.daemon_base import Ask, Query
from app.targets.program_sandbox import ProgramOutcome
from app.targets.read_tracking_cache import ReadTrackingCache
from app.targets.ssh.connection import SshConnection
from app.text.clean import clean_text

_PROGRAM_UNAVAILABLE = 44
_SECONDS = 60.0
"""systemd-analyze needs half a minute where a processor is emulated."""
_MOST_OUTPUT = 1024 * 1024


def create_remote_asker(
    connection: SshConnection, host_files: Files, read_cache: ReadTrackingCache | None = None
) -> Ask:
    """Return an asker that runs programs on the host; only files that differ from `host_files` are sent.

    `read_cache` caches answers for the host's files: those after a change are those before the next one.
    """
    known = read_cache or ReadTrackingCache()

    def ask_remote(files: Files, question: Query) -> ProgramOutcome | None:
        return known.get_or_compute(
            question, files, lambda files: run_program(files, question), is_cacheable=_is_answer
        )

    def run_program(files: Files, question: Query) -> ProgramOutcome | None:
        made = {path: text.encode() for path, text in question.made}
        data = _pack_staged_files(dict(_iter_changed_files(files, host_files, question)) | made)
        try:
            said = connection.run("ask", question.program, *question.arguments, data=data, seconds=_SECONDS)
        except ConnectionLost:
            raise
        except EnvironmentUnusable as exc:
            return ProgramOutcome(None, clean_text(str(exc), 300))
        if said.code == _PROGRAM_UNAVAILABLE:
            return None
        return ProgramOutcome(said.code, clean_text(said.text, _MOST_OUTPUT))

    return ask_remote


def _is_answer(outcome: ProgramOutcome | None) -> bool:
    return outcome is not None and outcome.code is not None


def create_asker_keeping_first_answerer(*asks: Ask) -> Ask:
    """Return an asker that stays with the first one to answer for a program: answers of two do not compare."""
    chosen: dict[str, Ask] = {}

    def ask_kept_or_first_answerer(files: Files, question: Query) -> ProgramOutcome | None:
        for one in [chosen[question.program]] if question.program in chosen else asks:
            said = one(files, question)
            if said is not None:
                chosen[question.program] = one
                return said
        return None

    return ask_kept_or_first_answerer


def _iter_changed_files(files: Files, host_files: Files, question: Query) -> Iterator[tuple[str, bytes]]:
    for path in (path for pattern in question.staged for path in files.glob(pattern)):
        state = files.state(path)
        if state is not None and state != host_files.state(path):
            yield path, state.content


def _pack_staged_files(contents: dict[str, bytes]) -> bytes:
    """Pack files as tar, readable by root only, because the program runs as root."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for path, content in contents.items():
            member = tarfile.TarInfo(path[1:])
            member.size, member.mode = len(content), 0o600
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()
