"""Which earlier audit rule gives an event its key: `ausearch -k` finds an event only by the first rule that matches."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from app.syntax.audit_rule_normalization import AuditRule, parse_audit_rule
from app.syntax.host_text import parse_digits

_ACCOUNTS = ("auid", "uid", "euid", "suid", "fsuid", "gid", "egid", "sgid", "fsgid", "success")
"""Fields that leave nearly all events of people, or a half: a rule with them takes a key away like one without."""
_APART = ("key", "path", "dir", "perm", "arch", *_ACCOUNTS)
_MERGED = re.compile(r"^(?:/usr(?=/(?:s?bin|lib(?:32|64)?)(?:/|$))|/var(?=/run(?:/|$)))")
"""Folders that have two names: one is a link to the other."""
_ALL = frozenset("rwxa")


@dataclass(frozen=True)
class KeyedRule:
    """A rule by what decides whether it and another one match the same event."""

    text: str
    rule: AuditRule

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(key for value in self.rule.get_values("key") for key in value.split("\x01"))

    @cached_property
    def watched_paths(self) -> tuple[str, ...]:
        found = (*self.rule.get_values("path"), *self.rule.get_values("dir"))
        return tuple(_MERGED.sub("", path.rstrip("/"), count=1) for path in found)

    @cached_property
    def rights(self) -> frozenset[str]:
        return frozenset("".join(self.rule.get_values("perm"))) or _ALL

    @cached_property
    def arch(self) -> frozenset[str]:
        return frozenset(self.rule.get_values("arch"))

    @cached_property
    def conditions_besides_key_place_arch_account(self) -> frozenset[tuple[str, str, str]]:
        return frozenset(field for field in self.rule.fields if field[0] not in _APART)

    @cached_property
    def account_fields(self) -> tuple[tuple[str, str, str], ...]:
        return tuple(field for field in self.rule.fields if field[0] in _ACCOUNTS)

    def hides_key_of(self, later_rule: "KeyedRule") -> bool:
        """Return True if this rule, standing first, records events of the later one without the later one's key."""
        return (
            bool(later_rule.keys - self.keys)
            and self.rule.where == later_rule.rule.where
            and self.conditions_besides_key_place_arch_account <= later_rule.conditions_besides_key_place_arch_account
            and not (self.arch and later_rule.arch and self.arch.isdisjoint(later_rule.arch))
            and not self.rights.isdisjoint(later_rule.rights)
            and not any(
                _exclude_each_other(one, other) for one in self.account_fields for other in later_rule.account_fields
            )
            and self._shares_object(later_rule)
        )

    def _shares_object(self, later: "KeyedRule") -> bool:
        """Return True for one file, or a folder and what is below it; without files, for a common call."""
        if self.watched_paths or later.watched_paths:
            return any(
                _is_within(one, other) or _is_within(other, one)
                for one in self.watched_paths
                for other in later.watched_paths
            )
        ours, theirs = set(self.rule.calls), set(later.rule.calls)
        return not ours or not theirs or not ours.isdisjoint(theirs)


def _exclude_each_other(condition: tuple[str, str, str], other_condition: tuple[str, str, str]) -> bool:
    """Return True if no event has both, such as `auid=0` and `auid>=1000`."""
    if condition[0] != other_condition[0] or "=" not in (condition[1], other_condition[1]):
        return False
    (_, _, value), (_, sign, bound) = (
        (condition, other_condition) if condition[1] == "=" else (other_condition, condition)
    )
    number, least = parse_digits(value), parse_digits(bound)
    if sign == ">=" and number is not None and least is not None:
        return number < least
    return (sign == "=" and value != bound) or (sign == "!=" and value == bound)


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def list_earlier_rules_taking_key_of_each_rule(rules: Sequence[str]) -> list[list[str]]:
    """Return for each rule the earlier ones that take its key away."""
    known: list[KeyedRule] = []
    found: list[list[str]] = []
    for text in rules:
        parsed = parse_audit_rule(text.split(" "))
        one = KeyedRule(text, parsed) if parsed else None
        found.append([earlier.text for earlier in known if earlier.hides_key_of(one)] if one else [])
        known += [one] if one else []
    return found
