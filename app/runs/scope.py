"""Validate the scope of waivers, site values and tailorings."""

from pathlib import Path

from sqlmodel import Session

from app.errors import BadInput, Rejected
from app.store.host_groups import read_groups
from app.targets.host_registry import require_known_host
from app.text.clean import clean_text


def check_scope(session: Session, host: str, group: str, hosts: Path) -> None:
    """Raise Rejected unless the host or group exists, or both are empty."""
    if host and group:
        raise Rejected("group", "give a host or a group, not both.")
    if group and group not in (there := read_groups(session)):
        known = f"the groups are {', '.join(there)}" if there else "create one with temper host group NAME HOST…"
        raise Rejected("group", f"there is no group {clean_text(group, 64)!a}: {known}.")
    if host:
        try:
            require_known_host(host, hosts)
        except BadInput as exc:
            raise Rejected("host", str(exc), "unknown-host") from exc
