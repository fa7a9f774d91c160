"""Rolls a change back on a host that may have done so already, or that alone has the journal."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from app.errors import ActionFailed, CannotRestore, Unusable
from app.targets.resources.foreseen import is_resource
from app.targets.restore import differences, restore
from app.targets.ssh.journals import Journals
from app.targets.ssh.tree import RemoteTree
from app.targets.target import Restored

_PAUSE = 0.5

T = TypeVar("T")


def roll_back(name: str, journals: Journals, tree: RemoteTree) -> Restored:
    """Roll back on the host from its journal, then compare and write what still differs."""
    began = time.monotonic()
    here, there = journals.mark(name), journals.there(name)
    if here == "committed":
        raise ActionFailed(f"The change {name} was committed; it is no longer undone.")
    open_there = there is not None and there.mark == "open"
    if here != "open":
        left = journals.restore_there(name) if open_there else []
        tree.look_again()
        if open_there and not left:
            journals.close(name, "undone")
        found = tuple(f"{path}: it is not as the host's journal has it" for path in left)
        return Restored(tuple(left), found, time.monotonic() - began)
    held, folders = journals.before(name), journals.contents(name).folders
    before = {path: state for path, state in held.items() if not is_resource(path)}
    unlike = [f"{one}: it is not as it was" for one in journals.restore_there(name)] if open_there else []
    if len(before) == len(held):  # files are compared from here
        unlike = []
    elif there is None:
        unlike = [f"{one}: what would put it back was kept on the host, and is gone" for one in held.keys() - before]
    tree.look_again(believe=True)
    left = [f"{path}: {text}" for path, text in differences(tree, before, folders).items()]
    tree.doubt()
    if left:
        with tree.unguarded():
            left = restore(tree, before, folders)
        journals.reload(before)
        tree.look_again()
    left += unlike
    if not left:
        journals.close(name, "undone")
    return Restored(tuple(held), tuple(left), time.monotonic() - began)


def patiently(work: Callable[[], T], seconds: float) -> T:
    """Retry `work` while the host may be rolling back by itself; raise CannotRestore after `seconds`."""
    until = time.monotonic() + seconds
    while True:
        try:
            return work()
        except Unusable as exc:
            if time.monotonic() > until:
                raise CannotRestore(f"{exc} It could not be looked at whether the change was taken back.") from exc
        threading.Event().wait(_PAUSE)
