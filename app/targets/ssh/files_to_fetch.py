"""Chooses the files to fetch: what judges and probes read, and nothing else.

Judges and probes run on the fetched files, and missing files that they look for are fetched as well: Include targets,
keys in unusual homes, vendor files below drop-ins. So no second list has to match the parsers.
"""

import re
from collections.abc import Iterable

from app.syntax.host_files_protocol import Files
from app.targets.effects.daemon_base import Query
from app.targets.effects.weakened_setting_search import DAEMONS
from app.targets.files_read_once_and_recorded import CachedFiles
from app.targets.files_that_roles_may_see import FACTS, is_absolute_path_without_dot_parts, matches_any_pattern
from app.targets.health_probes import run_health_probes
from app.targets.host_facts import read_host_facts
from app.targets.ssh.fetched_files import Snapshot
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
_WILD = re.compile(r"[*?\[\]\\]")


def list_unfetched_patterns_asked_by_probes(snapshot: Snapshot, fetched_patterns: Iterable[str]) -> list[str]:
    """Return patterns that judges and probes ask for and that were not fetched yet."""
    noting, patterns = CachedFiles(snapshot), (*ALWAYS, *fetched_patterns)
    run_health_probes(noting, _NEVER)
    read_host_facts(noting)
    for daemon in DAEMONS:
        daemon.read_settings(noting)
        daemon.ask_settings(noting, _mark_staged_files_as_read)
    asked: dict[str, None] = {}
    folders = (to_folder_only_pattern(path) for how, path in noting.seen if how == "is_folder")
    for (how, path), found in noting.seen.items():
        if how == "is_folder":
            continue
        for one in (path, *(found if isinstance(found, list) else ())):
            asked |= dict.fromkeys((one, snapshot.resolve_links(one) or one))
    new = (path for path in asked if not matches_any_pattern(path, patterns) and path not in patterns)
    plain = [path for path in new if is_absolute_path_without_dot_parts(path) and not path.startswith(_NOT_FILES)]
    return [*plain, *(one for one in dict.fromkeys(folders) if one and one not in patterns)]


def to_folder_only_pattern(folder: str) -> str | None:
    """Return the pattern that fetches a folder without its content; None for a path that is not plain.

    It ends in a slash, so that a large file in the same place stays where it is.
    """
    return f"{folder}/" if is_absolute_path_without_dot_parts(folder) and not _WILD.search(folder) else None


def _mark_staged_files_as_read(files: Files, question: Query) -> None:
    for pattern in question.staged:
        files.glob(pattern)


def to_relative_patterns_with_hidden_names(patterns: Iterable[str]) -> list[str]:
    """Convert to shell patterns, with hidden names and possibly empty folders."""
    made: dict[str, None] = {}
    for pattern in patterns:
        folder, _, name = pattern[1:].rpartition("/")  # no name: a folder alone
        made[pattern[1:]] = None
        if "*" in name and folder:
            made[folder] = None
        if name.startswith("*"):
            made[f"{folder}/.[!.]{name}"] = None
    return list(made)
