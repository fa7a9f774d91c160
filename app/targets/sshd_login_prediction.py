"""Whether sshd would let an account log in with its key on a new connection."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from app.syntax import host_text
from app.syntax.account_files import Account
from app.syntax.host_files_protocol import Files
from app.syntax.host_text import fold_case
from app.syntax.setting import Setting
from app.syntax.sshd import SshdConfig
from app.syntax.sshd_match import Conditions, ConnectionSpec, matches_conditions, matches_single_pattern
from app.targets.host_accounts import HostAccounts

NO_SHELL = ("/sbin/nologin", "/usr/sbin/nologin", "/bin/false", "/usr/bin/false")
_KEYS = ".ssh/authorized_keys .ssh/authorized_keys2"
_KEY_WORDS = ("ssh-", "ecdsa-", "sk-")
_TOKEN = re.compile("%.")
_OTHERS_WRITE = 0o022


@dataclass(frozen=True)
class SshdLogin:
    files: Files
    people: HostAccounts
    config: SshdConfig

    def explain_refusal(self, name: str, today: int) -> str:
        """Return why a new login fails; an empty string if it works. `today` is in days since 1970."""
        account = self.people.find_account(name)
        if account is None:
            return "there is no such account"
        if self.config.problems:
            return f"sshd does not start: {self.config.problems[0]}"
        return next(self._iterate_refusals(account, today), "")

    def _iterate_refusals(self, account: Account, today: int) -> Iterator[str]:
        if account.shell in NO_SHELL:
            yield f"its shell is {account.shell}"
        secret = self.people.find_shadow_entry(account.name)
        if secret and secret.is_expired(today):
            yield f"the account has expired (/etc/shadow line {secret.line})"
        if account.uid != 0 and self.files.state("/etc/nologin") is not None:
            yield "/etc/nologin keeps everybody but root out"
        yield from self._iterate_user_list_refusals(account)
        yield from self._iterate_public_key_login_refusals(account)
        yield from self._iterate_key_refusals(account)

    def _iterate_user_list_refusals(self, account: Account) -> Iterator[str]:
        groups = self.people.list_groups(account.name)
        for keyword, matches in (("DenyUsers", _is_user_matched), ("DenyGroups", _is_group_matched)):
            listed = self._list_effective_settings(account, keyword)
            yield from (
                _describe_refusal(setting) for setting in listed if matches(setting.value, account.name, groups)
            )
        for keyword, matches in (("AllowUsers", _is_user_matched), ("AllowGroups", _is_group_matched)):
            listed = self._list_effective_settings(account, keyword)
            if listed and not any(matches(setting.value, account.name, groups) for setting in listed):
                yield _describe_refusal(listed[0])

    def _iterate_public_key_login_refusals(self, account: Account) -> Iterator[str]:
        root = self._find_first_setting(account, "PermitRootLogin")
        if account.uid == 0 and root and fold_case(root.value) in ("no", "forced-commands-only"):
            yield _describe_refusal(root)
        keys = self._find_first_setting(account, "PubkeyAuthentication")
        if keys and fold_case(keys.value) == "no":
            yield _describe_refusal(keys)
        methods = self._find_first_setting(account, "AuthenticationMethods")
        if methods and not any(fold_case(m) in ("any", "publickey") for m in methods.value.split()):
            yield _describe_refusal(methods)

    def _iterate_key_refusals(self, account: Account) -> Iterator[str]:
        """Yield why no key file is usable. With StrictModes, a file that others can write does not count."""
        setting = self._find_first_setting(account, "AuthorizedKeysFile")
        strict = self._find_first_setting(account, "StrictModes")
        listed = (setting.value if setting else _KEYS).split()
        reasons = []
        for entry in listed:
            path = _expand_path(entry, account)
            text = host_text.read_text(self.files, path)
            lines = (line for line in (text or "").split("\n") if not line.startswith("#"))
            held = any(word.startswith(_KEY_WORDS) for line in lines for word in line.split())
            loose = "" if strict and fold_case(strict.value) == "no" else self._explain_loose_permission(account, path)
            if held and not loose:
                return
            reasons.append(loose or f"there is no key in {path}")
        yield reasons[0] if reasons else "no key file is named"

    def _explain_loose_permission(self, account: Account, path: str) -> str:
        """Return what is loose about the file or a folder above it, up to the home or else the root."""
        file, home = PurePosixPath(path), PurePosixPath(account.home)
        above = (one for one in file.parents if one.is_relative_to(home) or not file.is_relative_to(home))
        for place in (path, *(str(one) for one in above if one.name)):
            state = self.files.state(place)
            if state is None:
                continue
            if state.mode & _OTHERS_WRITE:
                return f"others may write to {place} (mode {state.mode:04o})"
            if state.owner.partition(":")[0] not in (account.name, "root"):
                return f"{place} belongs to {state.owner}"
        return ""

    def _find_first_setting(self, account: Account, keyword: str) -> Setting | None:
        return next(iter(self._list_effective_settings(account, keyword)), None)

    def _list_effective_settings(self, account: Account, keyword: str) -> tuple[Setting, ...]:
        """Return the settings of the keyword: those of all matching Match blocks, else the global ones."""
        matched = [one for one in self.config.matches if _is_block_applicable(one.conditions, account, self.people)]
        return tuple(one for block in matched for one in block.list_settings(keyword)) or (
            self.config.list_global_settings(keyword)
        )


def _is_block_applicable(conditions: Conditions, account: Account, accounts: HostAccounts) -> bool:
    """Return True if the block applies. Conditions on addresses never match, since the source is unknown."""
    known = all(attribute in ("user", "group") for attribute, _value in conditions)
    return known and matches_conditions(conditions, ConnectionSpec(account.name, accounts.list_groups(account.name)))


def _is_user_matched(space_separated_patterns: str, user: str, _groups: Collection[str]) -> bool:
    """Return True if a pattern matches the user, wherever they come from; "!" has no special meaning here."""
    return any(matches_single_pattern(word.partition("@")[0], user) for word in space_separated_patterns.split())


def _is_group_matched(space_separated_patterns: str, _user: str, groups: Collection[str]) -> bool:
    """Return True if a pattern matches a group, whose name may have an "@"; "!" has no special meaning here."""
    return any(matches_single_pattern(word, group) for word in space_separated_patterns.split() for group in groups)


def _expand_path(entry: str, account: Account) -> str:
    tokens = {"%%": "%", "%h": account.home, "%u": account.name, "%U": str(account.uid)}
    path = _TOKEN.sub(lambda found: tokens.get(found[0], found[0]), entry)
    return path if path.startswith("/") else f"{account.home.rstrip('/')}/{path}"


def _describe_refusal(setting: Setting) -> str:
    return f"refused by {setting.key} {setting.value} ({setting.path} line {setting.line})"
