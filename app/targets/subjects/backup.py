"""The policy for the backup's login: an existing account, neither the agent's nor an administrator's."""

from app.targets.accounts import AGENT, people
from app.targets.subjects.edit import Edit, Objection, is_live, not_understood
from app.targets.subjects.options import sections

_KEYS = ("login", "backup.login")


def judge(edit: Edit) -> Objection | None:
    for line in filter(is_live, (*edit.added, *edit.removed)):
        found = sections(line)
        if len(found) != 1 or found[0].key not in _KEYS:
            return not_understood(edit.path, line)
    who = people(edit.files)
    for line in filter(is_live, edit.added):
        login = sections(line)[0].value
        if login == AGENT or login in {account.name for account in who.administrators()}:
            return Objection("protected identity", f"{edit.path}: the backup may not log in as {login}.")
        account = who.account(login)
        if account is None:
            return Objection("not understood", f"{edit.path}: there is no account {login!r} on this host.")
        if account.uid == 0:
            return Objection("privilege", f"{edit.path}: the backup may not come to log in as {login}.")
    return None
