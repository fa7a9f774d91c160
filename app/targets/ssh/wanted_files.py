"""Chooses the files to fetch: what judges and probes read, and nothing else.

Judges and probes run on the fetched files, and missing files that they look for are fetched as well: Include targets,
keys in unusual homes, vendor files below drop-ins. So no second list has to match the parsers.
"""

from collections.abc import Iterable

from app.errors import ActionFailed
from app.syntax.files import FileState
from app.targets.effects.daemon import Query
from app.targets.effects.weakening import DAEMONS
from app.targets.health_probes import run_health_probes
from app.targets.host_facts import read_host_facts
from app.targets.path_walk import split_path
from app.targets.readable_files import FACTS, matches_any_pattern
from app.targets.ssh.snapshot import Snapshot
from app.targets.writable_areas import JUDGES

ALWAYS = (
    *(pattern for pattern, _ in JUDGES),
    *FACTS,
    "/etc/pam.d/*",
    "/etc/crypto-policies/back-ends/*",
    "/etc/nologin",
)
MOST = 400
"""Limit on extra patterns, because a host's files can name anything."""
_NOT_FILES = ("/proc/", "/sys/", "/dev/")
_NEVER = 0


class _PathRecorder:
    def __init__(self, files: Snapshot) -> None:
        self._files = files
        self.asked: dict[str, None] = {}

    def read(self, path: str) -> bytes | None:
        self._record_path(path)
        return self._files.read(path)

    def state(self, path: str) -> FileState | None:
        self._record_path(path)
        return self._files.state(path)

    def glob(self, pattern: str) -> list[str]:
        self._record_path(pattern)
        found = self._files.glob(pattern)
        for path in found:
            self._record_path(path)
        return found

    def record_staged(self, _: object, question: Query) -> None:
        for pattern in question.staged:
            self.glob(pattern)

    def _record_path(self, path: str) -> None:
        ends = self._files.resolve_links(path)
        self.asked |= dict.fromkeys([path] if ends is None else [path, ends])


def find_unfetched_patterns(held: Snapshot, known: Iterable[str]) -> list[str]:
    """Return patterns that judges and probes ask for and that were not fetched yet."""
    noting, patterns = _PathRecorder(held), (*ALWAYS, *known)
    run_health_probes(noting, _NEVER)
    read_host_facts(noting)
    for daemon in DAEMONS:
        daemon.read_settings(noting)
        daemon.ask_settings(noting, noting.record_staged)
    return [
        path
        for path in noting.asked
        if not matches_any_pattern(path, patterns) and path not in patterns and _is_fetchable(path)
    ]


def to_shell_patterns(patterns: Iterable[str]) -> list[str]:
    """Convert to shell patterns, with hidden names and possibly empty folders."""
    made: dict[str, None] = {}
    for pattern in patterns:
        folder, _, name = pattern[1:].rpartition("/")
        made[pattern[1:]] = None
        if "*" in name and folder:
            made[folder] = None
        if name.startswith("*"):
            made[f"{folder}/.[!.]{name}"] = None
    return list(made)


def _is_fetchable(path: str) -> bool:
    try:
        split_path(path)
    except ActionFailed:
        return False
    return not path.startswith(_NOT_FILES)
