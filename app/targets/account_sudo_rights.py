"""The rights that sudoers gives an account: aliases expanded, the last matching rule decides."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from app.syntax.sudoers import Sudoers
from app.syntax.sudoers_line import Grant, SudoDefault
from app.targets.host_accounts import HostAccounts

ON, OFF = "on", "off"
_DEPTH = 16
_LISTS = ("env_keep", "env_check", "env_delete")
BUILT_IN = "(built-in)"


@dataclass(frozen=True)
class Principal:
    name: str
    uid: int | None = None
    groups: frozenset[str] = frozenset()
    """Each by name, and by number as in sudoers: #10."""


def build_principal(accounts: HostAccounts, name: str) -> Principal:
    account = accounts.find_account(name)
    return Principal(name, account.uid if account else None, accounts.list_group_names_and_gids_after_hash(name))


@dataclass(frozen=True)
class SudoRight:
    """One sudoers rule for an account, with its tags and the Defaults resolved."""

    hosts: str
    runas: str
    command: str
    allowed: bool
    gives: frozenset[str]
    """NOPASSWD, EXEC, SETENV, FOLLOW: privileges beyond the command."""
    takes: frozenset[str]
    """LOG_INPUT, LOG_OUTPUT, MAIL, INTERCEPT: restrictions."""
    options: str = ""
    path: str = ""
    line: int = 0

    @property
    def needs_password(self) -> bool:
        return "NOPASSWD" not in self.gives


def is_principal_listed(sudoers: Sudoers, listed: Collection[str], principal: Principal) -> bool:
    return (
        sudoers.find_whether_user_included_or_excluded(tuple(listed), principal.name, principal.groups, principal.uid)
        is True
    )


def resolve_defaults(sudoers: Sudoers, principal: Principal, matching_scope: str = "") -> Mapping[str, str]:
    """Return the Defaults that apply to the account, by name; others have their built-in value.

    `matching_scope` is one more scope that counts as a match: a host, a runas user or a command. Scopes of commands
    come last.
    """
    found: dict[str, str] = {}
    for last in (False, True):
        for default in sudoers.defaults:
            if default.scope.startswith("!") == last and _is_applicable(sudoers, default, principal, matching_scope):
                found[default.name] = _apply_default(default, found.get(default.name, BUILT_IN))
    return found


def _is_applicable(sudoers: Sudoers, default: SudoDefault, principal: Principal, matching_scope: str) -> bool:
    if not default.scope or default.scope == matching_scope:
        return True
    listed = default.scope[1:].split(", ")
    return listed == ["ALL"] or (default.scope.startswith(":") and is_principal_listed(sudoers, listed, principal))


def _apply_default(default: SudoDefault, previous_value: str) -> str:
    if default.name not in _LISTS:
        return default.value or (OFF if default.negated else ON)
    given = set(default.value.split())
    known = set(previous_value.split())
    if default.change == "+":
        return " ".join(sorted(known - {f"-{name}" for name in given} | given))
    if default.change == "-":
        taken = {f"-{name}" for name in given} if BUILT_IN in known else set()
        return " ".join(sorted(known - given | taken))
    return " ".join(sorted(given))


def list_rights_and_denials_in_file_order(sudoers: Sudoers, principal: Principal) -> list[SudoRight]:
    """List the account's rights in file order. The last match decides."""
    defaults = resolve_defaults(sudoers, principal)
    return [
        _build_right(sudoers, grant, command, defaults)
        for grant in sudoers.grants
        if is_principal_listed(sudoers, grant.users, principal)
        for command in _expand_aliases(sudoers, "Cmnd", (grant.command,))
    ]


def _build_right(sudoers: Sudoers, grant: Grant, command: str, defaults: Mapping[str, str]) -> SudoRight:
    def is_tag_set(tag: str, option: str) -> bool:
        stated = {tag, f"NO{tag}"} & grant.tags
        return tag in grant.tags if stated else defaults.get(option) == ON

    asks = "PASSWD" in grant.tags or ("NOPASSWD" not in grant.tags and defaults.get("authenticate", ON) == ON)
    runs = "EXEC" in grant.tags or ("NOEXEC" not in grant.tags and defaults.get("noexec", OFF) == OFF)
    gives = {
        "NOPASSWD": not asks,
        "EXEC": runs,
        # a plain ALL includes SETENV
        "SETENV": is_tag_set("SETENV", "setenv") or (grant.command == "ALL" and "NOSETENV" not in grant.tags),
        "FOLLOW": is_tag_set("FOLLOW", "sudoedit_follow"),
    }
    takes = {
        "LOG_INPUT": is_tag_set("LOG_INPUT", "log_input"),
        "LOG_OUTPUT": is_tag_set("LOG_OUTPUT", "log_output"),
        "MAIL": "MAIL" in grant.tags,
        "INTERCEPT": is_tag_set("INTERCEPT", "intercept"),
    }
    users, colon, groups = f" {grant.runas}".partition(" : ")
    run_as = f"{_expand_runas_members(sudoers, users.lstrip())}{colon}{_expand_runas_members(sudoers, groups)}"
    return SudoRight(
        ", ".join(_expand_aliases(sudoers, "Host", grant.hosts)),
        run_as.strip(),
        command.removeprefix("!"),
        not command.startswith("!"),
        frozenset(word for word, held in gives.items() if held),
        frozenset(word for word, held in takes.items() if held),
        " ".join(grant.options),
        grant.path,
        grant.line,
    )


def _expand_runas_members(sudoers: Sudoers, text: str) -> str:
    return ", ".join(_expand_aliases(sudoers, "Runas", [entry for entry in text.split(", ") if entry]))


def _expand_aliases(sudoers: Sudoers, kind: str, listed: Collection[str], current_depth: int = 0) -> Iterator[str]:
    """Yield the entries with aliases expanded. A bang before an alias negates each member."""
    for entry in listed:
        members = sudoers.find_alias_members(kind, entry.removeprefix("!")) if current_depth < _DEPTH else None
        if members is None:
            yield entry
            continue
        for member in _expand_aliases(sudoers, kind, members, current_depth + 1):
            yield member if not entry.startswith("!") else member[1:] if member.startswith("!") else f"!{member}"


_ROOT = ("ALL", "root", "#0")
_CUTS = {"noexec": "the shell that sudo starts could run no program", "requiretty": "this program has no terminal"}
"""Defaults that stop a program which works through sudo, with the reason."""


def explain_blocking_sudo_options(sudoers: Sudoers, accounts: HostAccounts, name: str) -> str:
    """Return why a program that works through sudo would stop, although sudo grants it; empty if it would not."""
    who = build_principal(accounts, name)
    scopes = {"", *(default.scope for default in sudoers.defaults if default.scope[:1] in ("@", ">", "!"))}
    for scope in sorted(scopes):
        found = resolve_defaults(sudoers, who, scope)
        if cut := next((option for option in _CUTS if found.get(option) == ON), ""):
            return f"Defaults has {cut}: {_CUTS[cut]}"
    whole = [
        right
        for right in list_rights_and_denials_in_file_order(sudoers, who)
        if right.command == "ALL" and _is_runas_root(right)
    ]
    return f"a tag says NOEXEC: {_CUTS['noexec']}" if whole and "EXEC" not in whole[-1].gives else ""


def explain_root_refusal(sudoers: Sudoers, accounts: HostAccounts, name: str) -> str:
    """Return why sudo refuses; an empty string if it allows. A locked password does not count as one."""
    if sudoers.problems:
        return f"sudo does not run: {sudoers.problems[0]}"
    rights = list_rights_and_denials_in_file_order(sudoers, build_principal(accounts, name))
    whole = [right for right in rights if right.command == "ALL" and _is_runas_root(right)]
    if not whole:
        return "no line of sudoers grants it everything"
    last = whole[-1]
    if not last.allowed:
        return f"{last.path} line {last.line} takes it away"
    secret = accounts.find_shadow_entry(name)
    if not last.needs_password or (secret and not secret.is_locked):
        return ""
    return f"it has no password, and {last.path} line {last.line} asks for one"


def _is_runas_root(right: SudoRight) -> bool:
    """Return True if the runas list includes root. The last entry for root decides."""
    listed = right.runas.partition(" : ")[0].split(", ")
    meant = [entry for entry in listed if entry.removeprefix("!") in _ROOT]
    return bool(meant) and not meant[-1].startswith("!")
