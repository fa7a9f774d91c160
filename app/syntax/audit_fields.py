"""Fields of audit rules: what `-F` and `-C` of auditctl 3.0 accept, and the value that the kernel gets."""

import errno
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.syntax.host_text import fold_case

UNSET = 0xFFFFFFFF
ACCOUNTS = ("uid", "euid", "suid", "fsuid", "auid", "obj_uid")
GROUPS = ("gid", "egid", "sgid", "fsgid", "obj_gid")
ARGUMENTS = ("a0", "a1", "a2", "a3")
_SIGNS = ("!=", ">=", "<=", "&=", "=", ">", "<", "&")
"""In the order in which auditctl looks for them."""
NUMBER = re.compile(r"(-?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)", re.ASCII)
_NUMBER, _NATURAL = re.compile(r"-?[0-9]", re.ASCII), re.compile(r"[0-9]", re.ASCII)
_LONGEST_TEXT, _LONGEST_KEY, _FAMILIES = 4096, 256, 46
_TEXTS = frozenset(
    "path dir exe key subj_user subj_role subj_type subj_sen subj_clr obj_user obj_role obj_type obj_lev_low"  # noqa: SIM905
    " obj_lev_high".split()
)
_ONLY_EXIT = frozenset(
    "exit perm filetype path dir obj_user obj_role obj_type obj_lev_low obj_lev_high devmajor devminor inode success"  # noqa: SIM905
    " ppid".split()
)
_OF_EXCLUDE = frozenset("pid uid gid auid msgtype exe subj_user subj_role subj_type subj_sen subj_clr".split())  # noqa: SIM905
_FIELDS = frozenset(
    (*ACCOUNTS, *GROUPS, *ARGUMENTS, *_TEXTS, *_ONLY_EXIT, "pid", "pers", "arch", "msgtype", "sessionid", "fstype",
     "saddr_fam", "field_compare")
)  # fmt: skip
_LISTS_OF = {
    "msgtype": ("exclude", "user"),
    "fstype": ("filesystem",),
    "sessionid": ("exclude", "user", "exit"),
    **dict.fromkeys(_ONLY_EXIT, ("exit",)),
}
"""The lists on which a field may stand, if not on all."""
_ONLY_EQUAL = ("exe", "arch", "fstype", "inode")


class RefusedRule(Exception):
    """auditctl refuses a line. Its text is the reason."""


@dataclass(frozen=True)
class HostNames:
    """What auditctl looks up on a host."""

    accounts: Mapping[str, int]
    groups: Mapping[str, int]
    calls: Mapping[str, Collection[str]]
    """Names of system calls by machine."""
    machine: str


@dataclass(frozen=True)
class AuditField:
    name: str
    sign: str
    value: str
    number: int | None = None
    """The value as the kernel gets it; None for texts."""


def parse_field(pair: str, list_name: str, names: HostNames) -> AuditField:
    """Parse the value of `-F` for a rule on the list `list_name`. Raise RefusedRule."""
    sign = next((one for one in _SIGNS if one in pair), "")
    text, _, value = pair.partition(sign) if sign else (pair, "", "")
    name = normalize_field_name(text)
    if not sign or not text or not value or name not in _FIELDS:
        raise RefusedRule(f"-F unknown field, or no value: {pair}")
    if list_name == "exclude" and name not in _OF_EXCLUDE:
        raise RefusedRule("Only msgtype, *uid, *gid, pid, and subj* fields can be used with exclude filter")
    if list_name not in _LISTS_OF.get(name, (list_name,)):
        raise RefusedRule(f"{name} can only be used with {' or '.join(_LISTS_OF[name])} filter list")
    if sign not in ("=", "!=") and name in _ONLY_EQUAL:
        raise RefusedRule(f"{name} only takes = or != operators")
    if name == "perm":
        if sign != "=":
            raise RefusedRule("perm only takes the = operator")
        return AuditField(name, sign, sort_perm_letters_alphabetically(value))
    if name == "arch":
        return AuditField(name, sign, _resolve_machine_name(value, names))
    if name in _TEXTS:
        if len(value.encode("utf-8", "surrogateescape")) > (_LONGEST_KEY if name == "key" else _LONGEST_TEXT):
            raise RefusedRule(f"{name} is too long")
        return AuditField(name, sign, value)
    number = _compute_value_number(name, value, names)
    if number is None:
        raise RefusedRule(f"-F unknown value for {name}: {value}")
    return AuditField(name, sign, str(number & UNSET), number & UNSET)


def parse_field_to_field_comparison(pair: str, list_name: str) -> AuditField:
    """Parse the value of `-C`. Raise RefusedRule."""
    sign = "!=" if "!=" in pair else "="
    one, _, other = pair.partition(sign)
    first, second = sorted(map(normalize_field_name, (one, other)))
    kinds = [kind for kind in (ACCOUNTS, GROUPS) if first in kind and second in kind]
    if first not in _FIELDS or second not in _FIELDS or list_name != "exit":
        raise RefusedRule(f"-C cannot compare {pair}")
    if not kinds or first == second:
        raise RefusedRule(f"-C incompatible comparison {pair}")
    return AuditField("-C", sign, f"{first} {second}")


def normalize_field_name(text: str) -> str:
    name = fold_case(text)
    return "auid" if name == "loginuid" else name


def sort_perm_letters_alphabetically(text: str) -> str:
    letters = {*fold_case(text)}
    if len(text) > 4 or not letters <= {*"rwxa"}:
        raise RefusedRule(f"permission {text} isn't supported")
    return "".join(sorted(letters))


def parse_leading_number(text: str) -> int:
    """Read a number as strtol does with base 0: as far as it goes."""
    found = NUMBER.match(text)
    if found is None:
        return 0
    digits = found[2]
    number = int(digits, 8 if digits[0] == "0" and digits[1:2] not in ("x", "X") else 0)
    return -number if found[1] else number


def _compute_value_number(name: str, value: str, names: HostNames) -> int | None:
    """Return the number of a value; None if auditctl does not know it."""
    is_natural = _NATURAL.match(value) is not None
    if is_natural and name != "filetype":
        number = parse_leading_number(value)
        return number if name != "saddr_fam" or number < _FAMILIES else None
    if _NUMBER.match(value) and (name in (*ACCOUNTS, *ARGUMENTS, "exit", "sessionid")):
        return parse_leading_number(value)
    if name in ACCOUNTS:
        return UNSET if value == "unset" else names.accounts.get(value)
    if name in GROUPS:
        return names.groups.get(value)
    if name == "exit":
        code = getattr(errno, value.removeprefix("-").upper(), None)
        return None if code is None else -code if value.startswith("-") else code
    if name in ("sessionid", "saddr_fam"):
        return UNSET if (name, value) == ("sessionid", "unset") else 0
    table = {"msgtype": "messages", "filetype": "filetypes", "fstype": "filesystems"}.get(name)
    found = (
        _load_field_value_names_by_table()[table].get(value.upper() if name == "msgtype" else fold_case(value))
        if table
        else None
    )
    return None if found is None else int(found)


def _resolve_machine_name(value: str, names: HostNames) -> str:
    own, word = names.machine, fold_case(value)
    other = {"x86_64": "i386", "aarch64": "arm"}.get(own, "")
    found = {"b64": own, "b32": other}.get(word) or _load_field_value_names_by_table()["machines"].get(word, "")
    if not found:
        raise RefusedRule(f"arch elf mapping not found: {value}")
    return found


@cache
def _load_field_value_names_by_table() -> Mapping[str, Mapping[str, str]]:
    """Return the names that values may have, by table."""
    tables = tomllib.loads(Path(__file__).with_name("audit_names.toml").read_text())
    return {table: dict(pair.split("=") for pair in text.split()) for table, text in tables.items()}
