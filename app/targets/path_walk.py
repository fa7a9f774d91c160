"""Path resolution inside a host's tree that cannot leave it."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import partial

from app.errors import ActionFailed
from app.targets.crash_safe_writes import open_folder_descriptor

_MARK = "\ufffd"
_ODD = re.compile("[\udc80-\udcff\ufffd]")
_SPELLED = re.compile("\ufffd(\ufffd|[0-9a-f]{2})")


def spell_out_undecodable_name_bytes(name: str) -> str:
    """Return the name with each surrogate-escaped byte spelled out. Different names stay different."""
    return _ODD.sub(lambda odd: _MARK + (_MARK if odd[0] == _MARK else f"{ord(odd[0]) - 0xDC00:02x}"), name)


def unescape_name_bytes(name: str) -> str:
    return _SPELLED.sub(lambda found: _MARK if found[1] == _MARK else chr(0xDC00 + int(found[1], 16)), name)


_MOST_LINKS = 40


def require_and_split_plain_path(path: str) -> list[str]:
    """Split a plain absolute path into names; raise ActionFailed for any other path."""
    names = path.split("/")[1:]
    if not path.startswith("/") or "\0" in path or any(name in ("", ".", "..") for name in names):
        raise ActionFailed(f"{path!r} is not a plain absolute path; write it without '.', '..' or doubled slashes.")
    return names


@contextmanager
def open_parent(root: int, path: str) -> Iterator[tuple[int, str]]:
    """Open the parent folder of `path` without following links; yield its descriptor and the last name."""
    *folders, name = require_and_split_plain_path(path)
    with open_folder_at(root, folders) as folder:
        yield folder, name


@contextmanager
def open_folder_at(root: int, names: Sequence[str]) -> Iterator[int]:
    """Open a folder name by name, each inside the one before, so that a swapped name cannot lead outside."""
    at = root
    try:
        for name in names:
            above, at = at, open_folder_descriptor(name, at)
            if above != root:
                os.close(above)
        yield at
    finally:
        if at != root:
            os.close(at)


def resolve_links_unless_leaving_tree(root: int, path: str) -> str | None:
    """Resolve links by name only. `open_parent` refuses a link that is swapped in later."""
    return follow_links(path, partial(find_link_target, root))


def follow_links(path: str, link: Callable[[str], str | None]) -> str | None:
    """Return where `path` leads once its links are followed as on the host; None if it leaves the tree or loops."""
    todo = path.split("/")[::-1]
    done: list[str] = []
    links = 0
    while todo:
        name = todo.pop()
        if name in ("", "."):
            continue
        if name == "..":
            if not done:
                return None
            done.pop()
            continue
        goal = link("/" + "/".join([*done, name]))
        if goal is None:
            done.append(name)
            continue
        links += 1
        if links > _MOST_LINKS:
            return None
        if goal.startswith("/"):
            done.clear()
        todo.extend(reversed(goal.split("/")))
    return "/" + "/".join(done)


def list_folders_above(path: str) -> list[str]:
    """Return the folders on the way to a plain absolute path, outermost first, without the root."""
    names = require_and_split_plain_path(path)
    return ["/" + "/".join(names[:depth]) for depth in range(1, len(names))]


def find_first_link(path: str, link: Callable[[str], str | None]) -> str | None:
    """Return the first link on the way to `path`, itself included; None if there is no link."""
    return next((at for at in (*list_folders_above(path), path) if link(at) is not None), None)


def expand_pattern_to_unchecked_paths(pattern: str, list_names: Callable[[str], Iterable[str]]) -> list[str]:
    """Return the paths that a pattern stands for; hidden names need a dot in it, as in glob(3)."""
    found = [""]
    for part in require_and_split_plain_path(pattern):
        if any(mark in part for mark in "*?["):
            hidden = part.startswith(".")
            names = ((base, name) for base in found for name in list_names(base) if hidden or not name.startswith("."))
            found = [f"{base}/{name}" for base, name in names if fnmatchcase(name, part)]
        else:
            found = [f"{base}/{part}" for base in found]
    return found


def find_link_target(root: int, path: str) -> str | None:
    """Return a link's goal; None for anything else."""
    try:
        return os.readlink(path[1:], dir_fd=root)
    except (OSError, ValueError):
        return None
