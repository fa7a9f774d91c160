"""What the table states of a rule: a key of a file and how its value is compared, a kernel module, or audit rules."""

import re
from collections.abc import Callable
from typing import Annotated, Generic, TypeVar

from msgspec import Meta, Struct

from app.events.event_field_types import Category
from app.skills.stig.checks.login_defs_auditd_and_dnf_options import WantedOption
from app.syntax.host_text import fold_case

_NUMBER = re.compile(r"-?[0-9]{1,9}")


class RuleEntry(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    stig_id: Annotated[str, Meta(pattern=r"^RHEL-09-\d{6}$")]
    category: Category
    breaks: str = ""
    """What hardening it can break; empty if unknown."""
    irreversible: bool = False
    """As `Rule.irreversible`."""


class ValueEntry(RuleEntry, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A key and exactly one comparison: equals, one_of, a range, other_than, pattern or flag."""

    key: str
    equals: str | None = None
    one_of: tuple[str, ...] = ()
    fold: bool = False
    """Capital and small letters count as equal."""
    least: int | None = None
    most: int | None = None
    other_than: int | None = None
    unit: str = ""
    """What follows the number."""
    pattern: str = ""
    words: str = ""
    """The accepted values in words, for a pattern."""
    flag: bool = False
    """The line alone counts, whatever its value."""
    set: str = ""
    """The value to set, if several are accepted."""

    def __post_init__(self) -> None:
        ranged = self.least is not None or self.most is not None
        others = (self.equals is not None, self.one_of, self.other_than is not None, self.pattern, self.flag)
        if ranged + sum(map(bool, others)) != 1:
            raise ValueError(f"{self.key} needs exactly one comparison")
        if not self.flag and not self.accepts(self.value_to_set):
            raise ValueError(f"{self.key} does not accept the value {self.value_to_set!a} that is to be set")

    @property
    def name(self) -> str:
        return self.key.rpartition(".")[2] if self.key.startswith("main.") else self.key

    @property
    def wanted(self) -> WantedOption:
        return WantedOption(self.key, self.accepts, self.accepted_values_text)

    @property
    def value_to_set(self) -> str:
        first = next(iter(self.one_of), "") if self.equals is None else self.equals
        number = self.least if self.least is not None else self.most
        return self.set or first or (f"{number}{self.unit}" if number is not None else "")

    @property
    def accepts(self) -> Callable[[str], bool]:
        if self.flag:
            return lambda _: True
        if self.pattern:
            found = re.compile(self.pattern, re.ASCII)
            return lambda value: found.fullmatch(value) is not None
        named = self.one_of if self.equals is None else (self.equals,)
        if named and self.fold:
            return lambda value: fold_case(value) in map(fold_case, named)
        return (lambda value: value in named) if named else self._accepts_number

    def _accepts_number(self, value: str) -> bool:
        number = value.removesuffix(self.unit)
        if not value.endswith(self.unit) or not _NUMBER.fullmatch(number):
            return False
        at_least = self.least is None or int(number) >= self.least
        return at_least and (self.most is None or int(number) <= self.most) and int(number) != self.other_than

    @property
    def accepted_values_text(self) -> str:
        if self.flag:
            return f"the line {self.name}"
        if self.words:
            return self.words
        if self.equals is not None:
            return self.equals
        if self.one_of:
            return f"{', '.join(self.one_of[:-1])} or {self.one_of[-1]}"
        if self.other_than is not None:
            return f"a number other than {self.other_than}"
        if self.least is None or self.most is None:
            return f"{self.least}{self.unit} or more" if self.most is None else f"{self.most}{self.unit} or less"
        return f"{self.least} to {self.most}{self.unit}"


class FileEntry(ValueEntry, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A key of a file that app/targets/subjects/stated_families.toml describes."""

    path: str
    also: tuple[str, ...] = ()
    """Patterns of more files that may state it; in each of them a wrong line counts."""
    section: str = ""
    strict: bool = False
    """The program takes no blanks around keys and values."""

    @property
    def key_prefixed_with_section(self) -> str:
        return f"{self.section}/{self.key}" if self.section else self.key


class ModuleEntry(RuleEntry, frozen=True, forbid_unknown_fields=True, kw_only=True):
    module: str


class AuditEntry(RuleEntry, frozen=True, forbid_unknown_fields=True, kw_only=True):
    lines: tuple[str, ...]


AnyEntry = TypeVar("AnyEntry", bound=RuleEntry)


class TableSection(Struct, Generic[AnyEntry], frozen=True, forbid_unknown_fields=True):
    rules: dict[str, AnyEntry]
    paths: tuple[str, ...] = ()
    """The files that decide these rules, if their entries name none."""
    how: str = ""
    """How each fix is gone about."""


class RuleTable(Struct, frozen=True, forbid_unknown_fields=True):
    sshd: TableSection[ValueEntry]
    login_defs: TableSection[ValueEntry]
    pwquality: TableSection[ValueEntry]
    faillock: TableSection[ValueEntry]
    auditd: TableSection[ValueEntry]
    dnf: TableSection[ValueEntry]
    stated: TableSection[FileEntry]
    limits: TableSection[ValueEntry]
    sysctl: TableSection[ValueEntry]
    modprobe: TableSection[ModuleEntry]
    audit: TableSection[AuditEntry]
