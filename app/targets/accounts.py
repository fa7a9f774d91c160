"""The accounts and groups of a host, read from passwd, shadow and group."""

from dataclasses import dataclass

from app.syntax import accounts, source
from app.syntax.accounts import Account, Group, Shadow
from app.syntax.files import Files
from app.syntax.setting import BadSetting

AGENT = "temper"
ADMINISTRATORS = ("wheel", "sudo")
"""The group of administrators on RHEL, and the one on Debian."""
_FILES = ("/etc/passwd", "/etc/shadow", "/etc/group")


@dataclass(frozen=True)
class People:
    accounts: tuple[Account, ...]
    shadow: tuple[Shadow, ...]
    groups: tuple[Group, ...]
    problems: tuple[BadSetting, ...]

    def account(self, name: str) -> Account | None:
        return next((account for account in self.accounts if account.name == name), None)

    def secret(self, name: str) -> Shadow | None:
        return next((entry for entry in self.shadow if entry.name == name), None)

    def groups_of(self, name: str) -> frozenset[str]:
        account = self.account(name)
        own = {group.name for group in self.groups if account and group.gid == account.gid}
        return frozenset(own | {group.name for group in self.groups if name in group.members})

    def entries_of(self, name: str) -> frozenset[str]:
        """Return the account's groups as sudoers may spell them: by name, and by number after a #."""
        account, names = self.account(name), self.groups_of(name)
        numbers = {group.gid for group in self.groups if group.name in names} | ({account.gid} if account else set())
        return names | {f"#{number}" for number in numbers}

    def administrators(self) -> list[Account]:
        """List the accounts that may act as root, without root and the agent."""
        return [
            account
            for account in self.accounts
            if account.uid != 0 and account.name != AGENT and self.groups_of(account.name) & {*ADMINISTRATORS}
        ]


def people(files: Files) -> People:
    passwd, shadow, group = (source.text(files, path) for path in _FILES)
    absent = [
        BadSetting(f"{path} is absent", path, 1)
        for path, text in zip(_FILES, (passwd, shadow, group), strict=True)
        if text is None
    ]
    found, bad_accounts = accounts.passwd(passwd or "")
    secrets, bad_secrets = accounts.shadow(shadow or "")
    groups, bad_groups = accounts.group(group or "")
    return People(tuple(found), tuple(secrets), tuple(groups), (*absent, *bad_accounts, *bad_secrets, *bad_groups))
