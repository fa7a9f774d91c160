"""Whether sshd would let an account log in with its key on a new connection."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.syntax import source
from app.syntax.accounts import Account
from app.syntax.files import Files
from app.syntax.setting import Setting
from app.syntax.source import fold
from app.syntax.sshd import SshdConfig
from app.syntax.sshd_match import Conditions, SshdVisitor, fits, like
from app.targets.accounts import People

NO_SHELL = ("/sbin/nologin", "/usr/sbin/nologin", "/bin/false", "/usr/bin/false")
_KEYS = ".ssh/authorized_keys .ssh/authorized_keys2"
_KEY_WORDS = ("ssh-", "ecdsa-", "sk-")
_OTHERS_WRITE = 0o022


@dataclass(frozen=True)
class SshdLogin:
    files: Files
    people: People
    config: SshdConfig

    def refusal(self, name: str, today: int) -> str:
        """Return why a new login fails; an empty string if it works. `today` is in days since 1970."""
        account = self.people.account(name)
        if account is None:
            return "there is no such account"
        if self.config.problems:
            problem = self.config.problems[0]
            return f"sshd does not start: {problem.text} ({problem.path} line {problem.line})"
        return next(self._hurdles(account, today), "")

    def _hurdles(self, account: Account, today: int) -> Iterator[str]:
        if account.shell in NO_SHELL:
            yield f"its shell is {account.shell}"
        secret = self.people.secret(account.name)
        if secret and secret.expires is not None and secret.expires <= today:
            yield f"the account has expired (/etc/shadow line {secret.line})"
        if account.uid != 0 and self.files.state("/etc/nologin") is not None:
            yield "/etc/nologin keeps everybody but root out"
        yield from self._lists(account)
        yield from self._methods(account)
        yield from self._keys(account)

    def _lists(self, account: Account) -> Iterator[str]:
        groups = self.people.groups_of(account.name)
        for keyword, names in (("DenyUsers", {account.name}), ("DenyGroups", groups)):
            listed = self._all(account, keyword)
            if any(_named(setting.value, names) for setting in listed):
                yield _by(listed[0])
        for keyword, names in (("AllowUsers", {account.name}), ("AllowGroups", groups)):
            listed = self._all(account, keyword)
            if listed and not any(_named(setting.value, names) for setting in listed):
                yield _by(listed[0])

    def _methods(self, account: Account) -> Iterator[str]:
        root = self._get(account, "PermitRootLogin")
        if account.uid == 0 and root and fold(root.value) == "no":
            yield _by(root)
        if account.uid == 0 and root and fold(root.value) == "forced-commands-only":
            yield _by(root)
        keys = self._get(account, "PubkeyAuthentication")
        if keys and fold(keys.value) == "no":
            yield _by(keys)
        methods = self._get(account, "AuthenticationMethods")
        if methods and not any(fold(m) in ("any", "publickey") for m in methods.value.split()):
            yield _by(methods)

    def _keys(self, account: Account) -> Iterator[str]:
        """Yield why no key file is usable. With StrictModes, a file that others can write does not count."""
        setting = self._get(account, "AuthorizedKeysFile")
        strict = self._get(account, "StrictModes")
        listed = (setting.value if setting else _KEYS).split()
        reasons = []
        for entry in listed:
            path = _expanded(entry, account)
            text = source.text(self.files, path)
            held = any(word.startswith(_KEY_WORDS) for line in (text or "").split("\n") for word in _words(line))
            loose = "" if strict and fold(strict.value) == "no" else self._loose(account, path)
            if held and not loose:
                return
            reasons.append(loose or f"there is no key in {path}")
        yield reasons[0] if reasons else "no key file is named"

    def _loose(self, account: Account, path: str) -> str:
        below = path.removeprefix(account.home.rstrip("/") + "/")
        folders = [account.home, f"{account.home}/{below.rpartition('/')[0]}"] if below != path and "/" in below else []
        for place in (path, *folders):
            state = self.files.state(place)
            if state is None:
                continue
            if state.mode & _OTHERS_WRITE:
                return f"others may write to {place} (mode {state.mode:04o})"
            if state.owner.partition(":")[0] not in (account.name, "root"):
                return f"{place} belongs to {state.owner}"
        return ""

    def _get(self, account: Account, keyword: str) -> Setting | None:
        return next(iter(self._all(account, keyword)), None)

    def _all(self, account: Account, keyword: str) -> tuple[Setting, ...]:
        """Return the settings of the keyword: those of a matching Match block go before the global ones."""
        for block in self.config.matches:
            setting = block.get(keyword)
            if setting and _fits(block.conditions, account, self.people):
                return (setting,)
        return self.config.all(keyword)


def _fits(asked: Conditions, account: Account, people: People) -> bool:
    """Return True if the block applies. Conditions on addresses never match, since the source is unknown."""
    known = all(attribute in ("user", "group") for attribute, _value in asked)
    return known and fits(asked, SshdVisitor(account.name, people.groups_of(account.name)))


def _named(patterns: str, names: frozenset[str] | set[str]) -> bool:
    """Return True if a pattern matches a name. An exclamation mark has no special meaning here."""
    return any(like(word.partition("@")[0], name) for word in patterns.split() for name in names)


def _expanded(entry: str, account: Account) -> str:
    path = entry.replace("%h", account.home).replace("%u", account.name).replace("%%", "%")
    return path if path.startswith("/") else f"{account.home.rstrip('/')}/{path}"


def _words(line: str) -> list[str]:
    return [] if line.startswith("#") else line.split()


def _by(setting: Setting) -> str:
    return f"refused by {setting.key} {setting.value} ({setting.path} line {setting.line})"
