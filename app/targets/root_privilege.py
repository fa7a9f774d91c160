"""Whether sudo would let an account act as root."""

from app.syntax.sudoers import Sudoers
from app.targets.granted_rights import Principal, SudoRight, resolve_rights
from app.targets.host_accounts import HostAccounts

_ROOT = ("ALL", "root", "#0")


def explain_root_refusal(sudoers: Sudoers, people: HostAccounts, name: str) -> str:
    """Return why sudo refuses; an empty string if it allows. A locked password does not count as one."""
    if sudoers.problems:
        problem = sudoers.problems[0]
        return f"sudo does not run: {problem.text} ({problem.path} line {problem.line})"
    account = people.find_account(name)
    who = Principal(name, account.uid if account else None, people.list_sudoers_groups(name))
    whole = [right for right in resolve_rights(sudoers, who) if right.command == "ALL" and _is_runas_root(right)]
    if not whole:
        return "no line of sudoers grants it everything"
    last = whole[-1]
    if not last.allowed:
        return f"{last.path} line {last.line} takes it away"
    secret = people.find_shadow_entry(name)
    if not last.needs_password or (secret and not secret.is_locked):
        return ""
    return f"it has no password, and {last.path} line {last.line} asks for one"


def _is_runas_root(right: SudoRight) -> bool:
    """Return True if the runas list includes root. The last entry for root decides."""
    listed = right.runas.partition(" : ")[0].split(", ")
    meant = [entry for entry in listed if entry.removeprefix("!") in _ROOT]
    return bool(meant) and not meant[-1].startswith("!")
