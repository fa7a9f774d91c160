"""Parsers for passwd, shadow and group: colon-separated records, one per line."""

import re
from dataclasses import dataclass

from app.syntax.host_text import number_lines, parse_natural_number
from app.syntax.setting import BadSetting

_HIGHEST_ID = 0xFFFFFFFF


@dataclass(frozen=True)
class Account:
    name: str
    uid: int
    gid: int
    home: str
    shell: str
    line: int


@dataclass(frozen=True)
class ShadowEntry:
    name: str
    password: str
    min_days: int | None
    max_days: int | None
    expires: int | None
    """In days since 1970; None means never."""
    line: int

    @property
    def is_locked(self) -> bool:
        """True if no password is accepted. A key may still be."""
        return self.password.startswith(("!", "*"))

    @property
    def has_password(self) -> bool:
        return bool(self.password) and not self.is_locked

    def is_expired(self, today: int) -> bool:
        """Return True if the account has expired on the day, in days since 1970."""
        return self.expires is not None and self.expires <= today


@dataclass(frozen=True)
class Group:
    name: str
    gid: int
    members: tuple[str, ...]
    line: int


def parse_passwd_with_problems(text: str, path: str = "/etc/passwd") -> tuple[list[Account], list[BadSetting]]:
    accounts, problems = [], []
    for line, fields in _split_records(text):
        uid, gid = (_parse_id(f) for f in fields[2:4]) if len(fields) == 7 else (None, None)
        if uid is None or gid is None or not fields[0]:
            problems.append(BadSetting("seven fields with a number for uid and gid are wanted", path, line))
        else:
            accounts.append(Account(fields[0], uid, gid, fields[5], fields[6], line))
    return accounts, problems


def parse_shadow_with_problems(text: str, path: str = "/etc/shadow") -> tuple[list[ShadowEntry], list[BadSetting]]:
    entries, problems = [], []
    for line, fields in _split_records(text):
        if len(fields) != 9 or not fields[0] or any(f and parse_natural_number(f) is None for f in fields[2:8]):
            problems.append(BadSetting("nine fields with days as numbers are wanted", path, line))
        else:
            least, most, expires = (parse_natural_number(fields[place]) for place in (3, 4, 7))
            entries.append(ShadowEntry(fields[0], fields[1], least, most, expires, line))
    return entries, problems


def parse_group_with_problems(text: str, path: str = "/etc/group") -> tuple[list[Group], list[BadSetting]]:
    groups, problems = [], []
    for line, fields in _split_records(text):
        gid = _parse_id(fields[2]) if len(fields) == 4 else None
        if gid is None or not fields[0]:
            problems.append(BadSetting("four fields with a number for gid are wanted", path, line))
        else:
            groups.append(Group(fields[0], gid, tuple(m for m in fields[3].split(",") if m), line))
    return groups, problems


def _parse_id(field: str) -> int | None:
    """Return the id of an account or a group; None for what is not a number of 32 bits."""
    return int(field) if re.fullmatch("[0-9]{1,10}", field) and int(field) <= _HIGHEST_ID else None


def _split_records(text: str) -> list[tuple[int, list[str]]]:
    return [(number, line.split(":")) for number, line in number_lines(text) if line]
