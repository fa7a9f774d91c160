"""Preview the effect of actions that no policy has judged yet, only for files that may be shown."""

from collections.abc import Sequence

from app.errors import ActionFailed
from app.events.vocabulary import AnyAction, FileAction
from app.targets.baseline import build_file_change
from app.targets.change_diff import render_change
from app.targets.file_changes import plan_changes
from app.targets.policy import HostFiles
from app.targets.readable_files import NO_NEED, ODD, is_judged, is_plain_path
from app.targets.resources.dry_run import NONE, DryRun, to_file_changes
from app.targets.target import Preview


def preview_actions(actions: Sequence[AnyAction], files: HostFiles, foreseen: DryRun = NONE) -> Preview:
    for action in actions:
        if isinstance(action, FileAction) and (why := _explain_refusal(action.path, files)):
            raise ActionFailed(f"{action.path}: {why}.")
    if foreseen.lacking:
        raise ActionFailed(f"{foreseen.lacking}.")
    after = plan_changes(actions, files)
    before = {path: files.state(path) for path in after}
    before |= {path: files.state(path) for path in foreseen.files}
    diff = render_change(actions, foreseen, before, after)
    changes = (build_file_change(path, before[path], state) for path, state in {**after, **foreseen.files}.items())
    return Preview(diff, (*to_file_changes(foreseen), *changes))


def _explain_refusal(path: str, files: HostFiles) -> str:
    """Return why the path may not be previewed. For unjudged files, even the match of a line stays secret."""
    if not is_plain_path(path):
        return ODD
    if not is_judged(path):
        return NO_NEED
    link = files.find_first_link(path)
    return f"{link} is a link, and through a link nothing is shown or changed" if link else ""
