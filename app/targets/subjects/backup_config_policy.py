"""The policy for the backup's login: an existing account, neither the agent's nor an administrator's."""

from app.targets.host_accounts import AGENT, read_host_accounts
from app.targets.subjects.file_edit_given_to_judges import FileEdit, Objection, is_content_line
from app.targets.subjects.option_tables import parse_ini_line

_KEYS = ("login", "backup.login")


def judge_backup_edit(edit: FileEdit) -> Objection | None:
    for line in filter(is_content_line, (*edit.added, *edit.removed)):
        found = parse_ini_line(line)
        if len(found) != 1 or found[0].key not in _KEYS:
            return edit.create_unknown_objection(line)
    who = read_host_accounts(edit.files)
    for line in filter(is_content_line, edit.added):
        login = parse_ini_line(line)[0].value
        if login == AGENT or login in {account.name for account in who.list_other_administrators()}:
            return Objection("protected identity", f"{edit.path}: the backup may not log in as {login}.")
        account = who.find_account(login)
        if account is None:
            return Objection("not understood", f"{edit.path}: there is no account {login!r} on this host.")
        if account.uid == 0:
            return Objection("privilege", f"{edit.path}: the backup may not start to log in as {login}.")
    return None
