"""Rolls a change back on a host that may have done so already, or that alone has the journal."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from app.errors import ActionFailed, EnvironmentUnusable, RollbackFailed
from app.targets import no_rollback_consent
from app.targets.rebooter_protocol import RollbackResult
from app.targets.resources.resource_dry_run import is_resource
from app.targets.restore import find_differences, restore_files_remove_folders_and_list_differences
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.mirrored_journal import MirroredJournal
from app.targets.ssh.remote_tree import RemoteTree

_PAUSE = 0.5

T = TypeVar("T")


def roll_back_change(name: str, journals: MirroredJournal, tree: RemoteTree) -> RollbackResult:
    """Roll back on the host from its journal, then compare and write what still differs."""
    began = time.monotonic()
    here, there = journals.read_mark(name), journals.find_host_journal(name)
    if here == "committed":
        raise ActionFailed(f"The change {name} was committed; it is no longer undone.")
    open_there = there is not None and there.mark == "open"
    if here != "open":
        left = journals.restore_on_host_and_list_differences(name) if open_there else []
        tree.refresh_whole_snapshot()
        if open_there and not left:
            journals.close(name, "undone")
        found = tuple(f"{path}: it is not as the host's journal has it" for path in left)
        return RollbackResult(tuple(left), found, time.monotonic() - began)
    held, folders = journals.read_pre_images(name), journals.read_contents(name).folders
    before = {path: state for path, state in held.items() if not is_resource(path)}
    unlike = (
        [f"{one}: it is not as it was" for one in journals.restore_on_host_and_list_differences(name)]
        if open_there
        else []
    )
    if len(before) == len(held):  # files are compared from here
        unlike = []
    elif there is None:
        unlike = [f"{one}: what would put it back was kept on the host, and is gone" for one in held.keys() - before]
    tree.refresh_whole_snapshot(skip_later_refetches_until_resumed=True)
    left = [f"{path}: {text}" for path, text in find_differences(tree, before, folders).items()]
    tree.resume_path_refetches()
    if left:
        with tree.allow_unjournalled_writes():
            left = restore_files_remove_folders_and_list_differences(tree, before, folders)
        journals.reload_services(before)
        tree.refresh_whole_snapshot()
    left += unlike
    if not left:
        journals.close(name, "undone")
    return RollbackResult(tuple(held), tuple(left), time.monotonic() - began)


def retry_until_reachable_or_rollback_failed(work: Callable[[], T], seconds: float) -> T:
    """Retry `work` while the host may be rolling back by itself; raise RollbackFailed after `seconds`."""
    until = time.monotonic() + seconds
    while True:
        try:
            return work()
        except EnvironmentUnusable as exc:
            if time.monotonic() > until:
                raise RollbackFailed(f"{exc} It could not be looked at whether the change was taken back.") from exc
        threading.Event().wait(_PAUSE)


ROOM = 4 * 1024 * 1024
"""Space for a journal; the script `ready` writes as much and removes it."""

_NO_JOURNAL, _NO_TIMER = 4, 6


def find_rollback_obstacle(connection: SshConnection) -> str:
    """Return why the host cannot roll a change back, or "". Raise an error if it cannot be changed at all."""
    said = connection.run("ready", str(ROOM))
    if not said.code:
        return ""
    if said.code in (_NO_JOURNAL, _NO_TIMER):
        return said.reason
    raise EnvironmentUnusable(f"Temper cannot change {connection.end}, so the run does not start: {said.reason}.")


def can_undo_else_check_given_consent(connection: SshConnection, host_name: str, given_sentence: str) -> bool:
    """Return True if the host keeps journals, False if `given_sentence` accepts that it does not.

    Raise EnvironmentUnusable otherwise.
    """
    why, sentence = find_rollback_obstacle(connection), no_rollback_consent.build_consent_sentence(host_name)
    if why and given_sentence != sentence:
        raise EnvironmentUnusable(
            f"Temper could not roll back {host_name}, so the run does not start: {why}. "
            f'If you accept that, start it with --without-rollback "{sentence}"; '
            "over the API, put the same sentence into the field consent."
        )
    return not why
