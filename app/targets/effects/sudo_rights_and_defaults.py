"""sudo: the commands that each account may run, and the Defaults that apply."""

import re
from collections.abc import Iterator, Mapping

from app.syntax import sudoers
from app.syntax.host_files_protocol import Files
from app.syntax.sudoers import MAIN, Sudoers
from app.targets.account_sudo_rights import (
    OFF,
    Principal,
    build_principal,
    list_rights_and_denials_in_file_order,
    resolve_defaults,
)
from app.targets.effects import sudo_option_strength, sudo_rights_comparison
from app.targets.effects.cvtsudoers_output import parse_cvtsudoers
from app.targets.effects.daemon_base import UNSET, Ask, Daemon, Query
from app.targets.effects.strictness_comparison import Strength
from app.targets.host_accounts import HostAccounts, read_host_accounts

_PROGRAM = "/usr/bin/cvtsudoers"
_RULES = ("-f", "json", "-s", "defaults")
_DEFAULTS = ("-f", "sudoers", "-s", "aliases,privileges")
_MAY = " may run"
_BY_NAME = " by name"
_OTHERWISE = " where anybody else has "
_ELSE = Principal("\0")
_ANOTHERS_PASSWORD = ("targetpw", "rootpw", "runaspw")
_UNREADABLE = "lines that sudo cannot read"
_OPTION = re.compile(r"(?P<who>.*): (?P<name>[a-z_]+)(?: where (?P<scope>.*) fits)?")


class Sudo(Daemon):
    name = "sudo"
    areas = ("/etc/sudoers",)

    def read_settings(self, files: Files) -> Mapping[str, str]:
        return _collect_settings(sudoers.read_sudoers(files), read_host_accounts(files))

    def ask_settings(self, files: Files, ask: Ask) -> Mapping[str, str] | None:
        """Return settings from cvtsudoers' parse; which rules apply to whom is computed here."""
        paths = sudoers.read_sudoers(files).paths
        answers = [ask(files, Query(_PROGRAM, (*how, MAIN), paths)) for how in (_RULES, _DEFAULTS)]
        said = [answer.output for answer in answers if answer and answer.code == 0]
        found = parse_cvtsudoers(*said) if len(said) == len(answers) else None
        return None if found is None else _collect_settings(found, read_host_accounts(files))

    def compare_values(self, key: str, was: str, now: str) -> Strength:
        if key == _UNREADABLE:
            return Strength.STRONGER if now == UNSET else Strength.INCOMPARABLE
        if _BY_NAME in key:
            was, now = _replace_unset_side_by_value_of_everybody_else(was, now)
        option = _OPTION.fullmatch(key)
        if option:
            return sudo_option_strength.compare_sudo_option(option["name"], was, now)
        return sudo_rights_comparison.compare_rights(was, now)


def _collect_settings(parsed_sudoers: Sudoers, accounts: HostAccounts) -> dict[str, str]:
    found: dict[str, str] = {}
    if parsed_sudoers.problems:
        found[_UNREADABLE] = ", ".join(f"{problem.path} line {problem.line}" for problem in parsed_sudoers.problems)
    anybody = dict(_iter_principal_rights_and_defaults(parsed_sudoers, _ELSE))
    found |= {f"anybody else{key}": value for key, value in anybody.items()}
    for account in accounts.accounts:
        settings = _iter_principal_rights_and_defaults(parsed_sudoers, build_principal(accounts, account.name))
        found |= {f"{account.name}{key}": value for key, value in settings}
    for entry in _list_every_group_and_users_without_account(parsed_sudoers, accounts):
        stranger = Principal("\0", None, frozenset({entry[1:]})) if entry.startswith("%") else Principal(entry)
        own = dict(_iter_principal_rights_and_defaults(parsed_sudoers, stranger))
        for key in own.keys() | anybody.keys():
            value, otherwise = own.get(key, UNSET), anybody.get(key, UNSET)
            if value != otherwise:
                found[f"{entry}{_BY_NAME}{key}"] = f"{value}{_OTHERWISE}{otherwise}"
    return _drop_off_options_asking_anothers_password(found)


def _drop_off_options_asking_anothers_password(settings: dict[str, str]) -> dict[str, str]:
    """Drop the options of another's password that are off for everybody: sudo has them off by itself."""
    named = {key: option["name"] for key in settings if (option := _OPTION.fullmatch(key))}
    used = {name for key, name in named.items() if settings[key] != OFF}
    return {key: value for key, value in settings.items() if named.get(key) not in {*_ANOTHERS_PASSWORD} - used}


def _iter_principal_rights_and_defaults(parsed_sudoers: Sudoers, principal: Principal) -> Iterator[tuple[str, str]]:
    yield _MAY, sudo_rights_comparison.format_rights(list_rights_and_denials_in_file_order(parsed_sudoers, principal))
    plain = resolve_defaults(parsed_sudoers, principal)
    for name, value in plain.items():
        yield f": {name}", value
    for scope in sorted(
        {default.scope for default in parsed_sudoers.defaults if default.scope[:1] in ("@", ">", "!")} - {""}
    ):
        for name, value in resolve_defaults(parsed_sudoers, principal, scope).items():
            if plain.get(name) != value:
                yield f": {name} where {scope} fits", value


def _list_every_group_and_users_without_account(parsed_sudoers: Sudoers, accounts: HostAccounts) -> list[str]:
    """Return users and groups in sudoers without a local account: directory users or future members."""
    scopes = [default.scope[1:].split(", ") for default in parsed_sudoers.defaults if default.scope.startswith(":")]
    listed = [grant.users for grant in parsed_sudoers.grants] + scopes
    listed += [alias.members for alias in parsed_sudoers.aliases if alias.kind == "User"]
    named = {entry.removeprefix("!") for members in listed for entry in members}
    known = {account.name for account in accounts.accounts} | {f"#{account.uid}" for account in accounts.accounts}
    aliases = {alias.name for alias in parsed_sudoers.aliases if alias.kind == "User"}
    return sorted(named - known - aliases - {"ALL"})


def _replace_unset_side_by_value_of_everybody_else(was: str, now: str) -> tuple[str, str]:
    """Replace an unset side by the default of other users, which is also compared on its own."""
    old, _, old_else = was.partition(_OTHERWISE)
    new, _, new_else = now.partition(_OTHERWISE)
    if was == UNSET:
        return new_else, new
    return (old, old_else) if now == UNSET else (old, new)
