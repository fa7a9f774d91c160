"""Protects the account that Temper logs in with, whatever its name on this host."""

from collections.abc import Sequence

from app.events.event_field_types import AnyAction, FileAction
from app.syntax import sudoers
from app.syntax.host_files_protocol import Files
from app.targets import account_sudo_rights
from app.targets.host_accounts import read_host_accounts
from app.targets.planned_effects_of_actions import Refusal


def find_account_refusals(account: str, actions: Sequence[AnyAction], before: Files, after: Files) -> list[Refusal]:
    """Apply the policy for the account `temper` to this account; return the refusals."""
    clause, drop_in = "protected identity", f"/etc/sudoers.d/{account}"
    for action in actions:
        if isinstance(action, FileAction) and action.path.startswith((drop_in, f"/home/{account}/")):
            return [Refusal(action, clause, f"{action.path} is how this program works on the host; it stays.")]
    if actions and not _explain_missing_sudo(before, account) and (reason := _explain_missing_sudo(after, account)):
        return [Refusal(actions[-1], clause, f"sudo for {account}: {reason}")]
    return []


def _explain_missing_sudo(files: Files, account: str) -> str:
    if account == "root":
        return ""
    return account_sudo_rights.explain_root_refusal(sudoers.read_sudoers(files), read_host_accounts(files), account)
