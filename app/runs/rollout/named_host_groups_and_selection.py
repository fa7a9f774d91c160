"""Select hosts by name, pattern or group, and define groups."""

import fnmatch
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from sqlmodel import Session

from app.errors import BadInput, Rejected
from app.store.host_groups import read_groups, replace_group
from app.targets import host_registry
from app.targets.host_registry import require_known_host
from app.text.clean import clean_text

ALL_HOSTS = "all"
LONGEST_WORDS, MOST_HOSTS, MOST_GROUPS = 4000, 5000, 500
_GROUP = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


def list_added_else_builtin_hosts(hosts_folder: Path) -> tuple[str, ...]:
    """Return the added hosts, or the built-in ones if none was added."""
    added = tuple(one.name for one in host_registry.list_hosts(hosts_folder))
    return added or tuple(host_registry.list_default_and_existing_fixtures(hosts_folder))


def select_hosts(
    selection_text: str, hosts_folder: Path, hosts_by_group: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """Return the selected hosts in order, without duplicates. Raise Rejected for a word that matches nothing."""
    if len(selection_text) > LONGEST_WORDS:
        length = f"the selection of hosts has {len(selection_text)} characters"
        raise Rejected("hosts", f"{length}; the limit is {LONGEST_WORDS}. Define a group.")
    found: dict[str, None] = {}
    for word in (word.strip() for word in selection_text.split(",")):
        if word:
            found |= dict.fromkeys(_resolve_word(word, hosts_folder, hosts_by_group))
    if not found:
        raise Rejected("hosts", f"no hosts are selected: give hosts separated by commas, a group, or {ALL_HOSTS}.")
    if len(found) > MOST_HOSTS:
        raise Rejected("hosts", f"{len(found)} hosts are selected; the limit is {MOST_HOSTS}.")
    return tuple(found)


def _resolve_word(word: str, hosts_folder: Path, hosts_by_group: Mapping[str, Sequence[str]]) -> Sequence[str]:
    if word == ALL_HOSTS:
        return list_added_else_builtin_hosts(hosts_folder)
    if word in hosts_by_group:
        return hosts_by_group[word]
    if any(sign in word for sign in "*?["):
        added = (one.name for one in host_registry.list_hosts(hosts_folder))
        if hosts := fnmatch.filter([*added, *host_registry.list_default_and_existing_fixtures(hosts_folder)], word):
            return hosts
        raise Rejected("hosts", f"no host matches {word[:64]!a}: temper host list shows the hosts.", "unknown-host")
    try:
        require_known_host(word, hosts_folder)
    except BadInput as exc:
        raise Rejected("hosts", f"{exc} There is no group of that name either.", "unknown-host") from exc
    return (word,)


def save_group(session: Session, name: str, hosts: Sequence[str], hosts_folder: Path) -> tuple[str, ...]:
    """Set a group's hosts and return them. Patterns and other groups are resolved now."""
    if not _GROUP.fullmatch(name) or name == ALL_HOSTS:
        allowed = f"use lower-case letters, digits, '.', '_' and '-', and not {ALL_HOSTS!r}"
        raise Rejected("name", f"{name[:64]!a} is not a valid name for a group: {allowed}.")
    if host_registry.is_fixture(name) or host_registry.find_host(hosts_folder, name):
        raise Rejected("name", f"{name} is a host: give the group another name.", "exists")
    there = read_groups(session)
    if name not in there and len(there) >= MOST_GROUPS:
        raise Rejected("", f"there are {MOST_GROUPS} groups already: remove one first.", "too-many")
    found = select_hosts(",".join(hosts), hosts_folder, there)
    replace_group(session, name, found)
    return found


def drop_group(session: Session, name: str) -> None:
    if name not in read_groups(session):
        raise Rejected("name", f"there is no group {clean_text(name, 64)!a}.", "not-found")
    replace_group(session, name, ())
