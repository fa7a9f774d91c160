"""The accounts and groups of a host, read from passwd, shadow and group."""

from dataclasses import dataclass

from app.syntax import account_files, host_text
from app.syntax.account_files import Account, Group, ShadowEntry
from app.syntax.host_files_protocol import Files, FileState
from app.syntax.setting import BadSetting

AGENT = "temper"
ADMINISTRATORS = ("wheel", "sudo")
"""The group of administrators on RHEL, and the one on Debian."""
_FILES = ("/etc/passwd", "/etc/shadow", "/etc/group")


@dataclass(frozen=True)
class HostAccounts:
    accounts: tuple[Account, ...]
    shadow: tuple[ShadowEntry, ...]
    groups: tuple[Group, ...]
    problems: tuple[BadSetting, ...]

    def find_account(self, name: str) -> Account | None:
        return next((account for account in self.accounts if account.name == name), None)

    def find_shadow_entry(self, name: str) -> ShadowEntry | None:
        return next((entry for entry in self.shadow if entry.name == name), None)

    def list_groups(self, name: str) -> frozenset[str]:
        account = self.find_account(name)
        own = {group.name for group in self.groups if account and group.gid == account.gid}
        return frozenset(own | {group.name for group in self.groups if name in group.members})

    def list_group_names_and_gids_after_hash(self, name: str) -> frozenset[str]:
        """Return the account's groups as sudoers may spell them: by name, and by number after a #."""
        account, names = self.find_account(name), self.list_groups(name)
        numbers = {group.gid for group in self.groups if group.name in names} | ({account.gid} if account else set())
        return names | {f"#{number}" for number in numbers}

    def list_other_administrators(self) -> list[Account]:
        """List the accounts that may act as root, without root and the agent."""
        return [
            account
            for account in self.accounts
            if account.uid != 0 and account.name != AGENT and self.list_groups(account.name) & {*ADMINISTRATORS}
        ]


def read_host_accounts(files: Files) -> HostAccounts:
    texts = {path: host_text.read_text(files, path) for path in _FILES}
    absent = [BadSetting(f"{path} is absent", path, 1) for path, text in texts.items() if text is None]
    passwd, shadow, group = (text or "" for text in texts.values())
    found, bad_accounts = account_files.parse_passwd_with_problems(passwd)
    secrets, bad_secrets = account_files.parse_shadow_with_problems(shadow)
    groups, bad_groups = account_files.parse_group_with_problems(group)
    problems = (*absent, *bad_accounts, *bad_secrets, *bad_groups)
    return HostAccounts(tuple(found), tuple(secrets), tuple(groups), problems)


READ, ENTER, WRITE = 4, 1, 2


def explain_read_refusal(files: Files, accounts: HostAccounts, name: str, path: str) -> str:
    """Return why the account cannot read the file; an empty string if it can."""
    names = path.split("/")[1:]
    for depth in range(1, len(names)):
        folder = "/" + "/".join(names[:depth])
        state = files.state(folder)
        if state is not None and not is_access_granted(state, accounts, name, ENTER):
            return f"{name} may not enter {folder} (mode {state.mode:04o}, owner {state.owner})"
    state = files.state(path)
    if state is None:
        return f"{path} is absent"
    if not is_access_granted(state, accounts, name, READ):
        return f"{name} may not read {path} (mode {state.mode:04o}, owner {state.owner})"
    return ""


def is_access_granted(state: FileState, accounts: HostAccounts, name: str, right: int) -> bool:
    """Return True if the first matching class (owner, group, others) grants the right, as in the kernel."""
    account = accounts.find_account(name)
    if account is not None and account.uid == 0:
        return True
    owner, _, group = state.owner.partition(":")
    if name == owner:
        return bool(state.mode >> 6 & right)
    if (group or owner) in accounts.list_groups(name):
        return bool(state.mode >> 3 & right)
    return bool(state.mode & right)
