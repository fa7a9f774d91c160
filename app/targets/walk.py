"""Ways through a host's tree that cannot leave it."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from app.errors import ActionFailed
from app.targets.disk import open_folder

_MOST_LINKS = 40


def parts_of(path: str) -> list[str]:
    """The names in a plain absolute path; anything that could mean another place is refused."""
    names = path.split("/")[1:]
    if not path.startswith("/") or "\0" in path or any(name in ("", ".", "..") for name in names):
        raise ActionFailed(f"{path!r} is not a plain absolute path; write it without '.', '..' or doubled slashes.")
    return names


@contextmanager
def parent_of(root: int, path: str) -> Iterator[tuple[int, str]]:
    """The folder that holds `path`, reached without following a single link, and the last name of `path`."""
    *folders, name = parts_of(path)
    with folder_at(root, folders) as folder:
        yield folder, name


@contextmanager
def folder_at(root: int, names: Sequence[str]) -> Iterator[int]:
    """Walked name by name, each opened inside the one above it: what is swapped meanwhile cannot lead out."""
    at = root
    try:
        for name in names:
            above, at = at, open_folder(name, at)
            if above != root:
                os.close(above)
        yield at
    finally:
        if at != root:
            os.close(at)


def resolve(root: int, path: str) -> str | None:
    """Only names are worked out here: a link swapped in afterwards is met by `parent_of`, which refuses it."""
    return followed(path, lambda at: _link_at(root, at[1:]))


def followed(path: str, link: Callable[[str], str | None]) -> str | None:
    """Where `path` leads once its links are followed as the host would; None when it climbs out or goes round."""
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


def first_link(root: int, path: str) -> str | None:
    """The first name on the way to `path`, itself included, that is a link."""
    names = parts_of(path)
    for depth in range(1, len(names) + 1):
        if _link_at(root, "/".join(names[:depth])) is not None:
            return "/" + "/".join(names[:depth])
    return None


def _link_at(root: int, relative: str) -> str | None:
    try:
        return os.readlink(relative, dir_fd=root)
    except (OSError, ValueError):
        return None
