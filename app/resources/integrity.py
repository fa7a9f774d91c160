"""The database that AIDE compares a host's files with: built if there is none, never built anew."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from app.resources import kind

_NAMED = re.compile(r"\baideinit\b|\baide\b[^\n]{0,80}\s--init\b|(?<![a-z])aide_build_database\b")
_ABSENT = "no database"
"""As app/targets/ssh/remote/integrity.sh prints it."""
_FILES = "/var/lib/aide/aide.db /var/lib/aide/aide.db.gz"
_DO = (
    "conf=/etc/aide.conf; [ -r $conf ] || conf=/etc/aide/aide.conf; aide --config $conf --init && "
    'for new in /var/lib/aide/aide.db.new*; do mv -f -- "$new" "/var/lib/aide/aide.db${new#*.db.new}"; done'
)


class BuildIntegrityDatabase(kind.ResourceAction, frozen=True, tag="build_integrity_database"):
    """Build the database that a tool compares the host's files with."""

    tool: Literal["aide"]


def find_candidates(rule: kind.RuleTexts) -> Iterator[BuildIntegrityDatabase]:
    if _NAMED.search(f"{rule.id}\n{rule.text}"):
        yield BuildIntegrityDatabase(tool="aide")


def find_objection_to_replacing_database(foreseen: kind.ForeseenStates) -> kind.Objection | None:
    for name, one in foreseen.iterate_names_and_states("integrity"):
        if one.before != _ABSENT:
            reason = f"{name} has a database, and a new one would accept everything that changed since."
            return kind.Objection("weakening", reason)
    return None


def _build_commands(_: BuildIntegrityDatabase, __: Sequence[str]) -> tuple[kind.ShellCommands]:
    return (kind.ShellCommands(f"ls {_FILES} 2>/dev/null | grep -q .", _DO, f"rm -f {_FILES}"),)


KIND = kind.ResourceKind(
    name="integrity",
    actions=(BuildIntegrityDatabase,),
    find_candidates=find_candidates,
    is_possible=lambda _, host: host.text == _ABSENT,
    list_words=lambda _: (),
    judge_states=find_objection_to_replacing_database,
    build_commands=_build_commands,
)
