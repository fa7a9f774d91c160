"""Validate the scope of waivers, site values and tailorings."""

from pathlib import Path

from sqlmodel import Session

from app.errors import BadInput, NotTaken
from app.store.groups import groups
from app.targets.catalog import known_host
from app.text.clean import clean


def checked_scope(session: Session, host: str, group: str, hosts: Path) -> None:
    """Raise Rejected unless the host or group exists, or both are empty."""
    if host and group:
        raise NotTaken("group", "name a host or a group, not both.")
    if group and group not in (there := groups(session)):
        known = f"there is {', '.join(there)}" if there else "temper host group NAME HOST… makes one"
        raise NotTaken("group", f"there is no group {clean(group, 64)!a}: {known}.")
    if host:
        try:
            known_host(host, hosts)
        except BadInput as exc:
            raise NotTaken("host", str(exc), "unknown-host") from exc
