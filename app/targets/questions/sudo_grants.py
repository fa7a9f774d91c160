"""Probes sudo rights, and those that need no password, by our reading of sudoers."""

from app.syntax.sudoers import Sudoers
from app.targets.account_sudo_rights import build_principal, list_rights_and_denials_in_file_order
from app.targets.host_accounts import HostAccounts
from app.targets.questions.probe_answer import ProbeAnswer, ProbedHost, answer_from_first_problem_or_success

_ROOT = "root"
_MOST = 200


def probe_sudo_rights_of_all_accounts(host: ProbedHost) -> ProbeAnswer:
    if host.sudoers.problems:
        return answer_from_first_problem_or_success(host.sudoers.problems, "")
    names = [account.name for account in host.accounts_and_groups.accounts if account.name != _ROOT]
    found = [
        (name, resolve_usable_and_passwordless_rights(host.sudoers, host.accounts_and_groups, name)) for name in names
    ]
    return build_sudo_rights_answer([(name, *rights) for name, rights in found if rights[0] or rights[1]])


def build_sudo_rights_answer(rights_by_account: list[tuple[str, tuple[str, ...], tuple[str, ...]]]) -> ProbeAnswer:
    """Build the answer from (account, rights, rights without a password)."""
    holds = tuple(f"{name}: {right}" for name, rights, _ in rights_by_account for right in rights)
    weak = tuple(f"{name}: {right} without a password" for name, _, rights in rights_by_account for right in rights)
    if not rights_by_account:
        return ProbeAnswer(True, "sudo grants nothing to anybody but root")
    said = (
        f"{name}: {', '.join(rights)}{' (no password asked)' if easy == rights else ''}"
        for name, rights, easy in rights_by_account
    )
    return ProbeAnswer(True, f"sudo grants {'; '.join(said)}", holds[:_MOST], weak[:_MOST])


def resolve_usable_and_passwordless_rights(
    sudoers: Sudoers, accounts: HostAccounts, name: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return an account's rights, then those without a password; a right whose password cannot be typed is left out."""
    secret = accounts.find_shadow_entry(name)
    asks: dict[str, bool] = {}
    for one in list_rights_and_denials_in_file_order(sudoers, build_principal(accounts, name)):
        right = f"({one.runas}) {'' if one.allowed else '!'}{one.command}"
        asks.pop(right, None)  # the last match decides, so it moves to the end
        asks[right] = one.needs_password
    return list_usable_and_passwordless_rights(asks, can_type_password=secret is not None and secret.has_password)


def list_usable_and_passwordless_rights(
    password_needed_by_right: dict[str, bool], *, can_type_password: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split rights, in order, into all usable ones and those without a password."""
    rights = [right for right, asked in password_needed_by_right.items() if can_type_password or not asked]
    easy = [right for right, asked in password_needed_by_right.items() if not asked]
    return _join_into_one_if_order_matters(rights), _join_into_one_if_order_matters(easy)


def _join_into_one_if_order_matters(rights: list[str]) -> tuple[str, ...]:
    """Join rights into one if an exception makes their order matter."""
    excepted = any(right.rpartition(") ")[2].startswith("!") for right in rights)
    return ("; ".join(rights),) if excepted else tuple(rights)
