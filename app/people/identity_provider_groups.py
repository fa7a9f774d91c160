"""Map identity provider groups to rights. An unmapped group grants nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.errors import BadInput
from app.people.rights import RIGHTS, Right

MOST, LONGEST = 2000, 256


@dataclass(frozen=True)
class GroupRights:
    claim: str
    """Claim that lists the groups: a name, or a path such as realm_access.roles."""
    rights: tuple[tuple[str, Right], ...]

    def find_right(self, groups: Sequence[str]) -> Right | None:
        """Return the highest right that the groups grant, or None."""
        given = {right for group, right in self.rights if group in groups}
        return next((right for right in reversed(RIGHTS) if right in given), None)


def parse_group_right_pairs(options: Sequence[str]) -> tuple[tuple[str, Right], ...]:
    """Parse GROUP=RIGHT options; the group's name may contain an equals sign. Raise BadInput if invalid."""
    found: list[tuple[str, Right]] = []
    for one in options:
        group, _, word = one.rpartition("=")
        right = next((right for right in RIGHTS if right == word), None)
        if not group or right is None or len(group) > LONGEST:
            raise BadInput(
                f"--oidc-group takes GROUP=RIGHT, where RIGHT is one of {', '.join(RIGHTS)}: not {one[:80]!a}."
            )
        found.append((group, right))
    return tuple(found)


def parse_groups_or_none_if_malformed(claims: Mapping[str, Any], claim: str) -> tuple[str, ...] | None:
    """Return the groups in a token's claim; a string is one group. Return None if the claim is malformed."""
    found: Any = claims.get(claim)
    if found is None:
        found = _get_nested_claim(claims, claim.split("."))
    match found:
        case None:
            return ()
        case str():
            return (found,) if len(found) <= LONGEST else None
        case list() if len(found) <= MOST and all(isinstance(one, str) and len(one) <= LONGEST for one in found):
            return tuple(found)
        case _:
            return None


def _get_nested_claim(claims: Any, path: Sequence[str]) -> Any:
    for name in path:
        claims = claims.get(name) if isinstance(claims, dict) else None
    return claims
