"""Whether an account may read a path, by the kernel's rules: each folder on the way, then the file."""

from app.syntax.files import Files, FileState
from app.targets.host_accounts import HostAccounts

READ, ENTER, WRITE = 4, 1, 2


def explain_read_refusal(files: Files, people: HostAccounts, name: str, path: str) -> str:
    """Return why the account cannot read the file; an empty string if it can."""
    names = path.split("/")[1:]
    for depth in range(1, len(names)):
        folder = "/" + "/".join(names[:depth])
        state = files.state(folder)
        if state is not None and not is_access_granted(state, people, name, ENTER):
            return f"{name} may not enter {folder} (mode {state.mode:04o}, owner {state.owner})"
    state = files.state(path)
    if state is None:
        return f"{path} is absent"
    if not is_access_granted(state, people, name, READ):
        return f"{name} may not read {path} (mode {state.mode:04o}, owner {state.owner})"
    return ""


def is_access_granted(state: FileState, people: HostAccounts, name: str, right: int) -> bool:
    """Return True if the first matching class (owner, group, others) grants the right, as in the kernel."""
    account = people.find_account(name)
    if account is not None and account.uid == 0:
        return True
    owner, _, group = state.owner.partition(":")
    if name == owner:
        return bool(state.mode >> 6 & right)
    if (group or owner) in people.list_groups(name):
        return bool(state.mode >> 3 & right)
    return bool(state.mode & right)
