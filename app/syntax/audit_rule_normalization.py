"""One spelling for each audit rule: what auditctl sends for it to the kernel, and no more."""

import errno
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.syntax.audit_fields import ACCOUNTS, GROUPS, NUMBER, UNSET, normalize_field_name, parse_leading_number
from app.syntax.host_text import fold_case

_FIELD = re.compile(r"([A-Za-z_0-9]+)(!=|>=|<=|&=|=|>|<|&)(.*)", re.ASCII | re.DOTALL)
_ACCOUNTS = (*ACCOUNTS, *GROUPS, "sessionid")
_MACHINES = {
    "x86_64": "b64",
    "aarch64": "b64",
    **dict.fromkeys(("i386", "i486", "i586", "i686", "arm", "armeb", "armv5tejl", "armv7l"), "b32"),
}
_ACTIONS = ("always", "never")


@dataclass(frozen=True)
class AuditRule:
    where: str
    """Action and list, such as `always,exit`."""
    calls: tuple[str, ...]
    """Names of system calls, sorted; empty for all."""
    fields: tuple[tuple[str, str, str], ...]
    """Field, operator and value, in order. The kernel compares them in order, so another order is another rule."""
    prepended: bool

    @property
    def normalized_text(self) -> str:
        calls = [f"-S {','.join(self.calls)}"] if self.calls else []
        return " ".join(["-A" if self.prepended else "-a", self.where, *calls, *map(_spell_field, self.fields)])

    def get_values(self, name: str) -> list[str]:
        return [value for field, _, value in self.fields if field == name]


def parse_audit_rule(words: Sequence[str]) -> AuditRule | None:
    """Return the rule in the spelling that all of its spellings share; None if it is not understood."""
    first, *rest = words
    if first not in ("-a", "-A", "-w") or len(rest) % 2 == 0:
        return None
    action_and_list = sorted(rest[0].split(","), key=lambda word: word not in _ACTIONS)  # `exit,always` is the same
    where = "always,exit" if first == "-w" else ",".join(action_and_list)
    fields = [("path", "=", rest[0].rstrip("/") or "/"), ("perm", "=", "arwx")] if first == "-w" else []
    calls: list[str] = []
    keys: list[str] = []
    for flag, value in zip(rest[1::2], rest[2::2], strict=True):
        if flag == "-S":
            calls += value.split(",")
        elif flag == "-k":
            keys.append(value)
        elif (field := _parse_field(flag, value)) is None:
            return None
        elif (
            flag == "-p"
            and (place := next((at for at, one in enumerate(fields) if one[0] == "perm"), None)) is not None
        ):
            fields[place] = field  # a watch has all permissions until it names some
        else:
            fields.append(field)
    fields += [("key", "=", "\x01".join(keys))] if keys else []
    named = () if "all" in calls else tuple(sorted(set(calls)))
    return AuditRule(where, named, tuple(fields), first == "-A")


def _parse_field(flag: str, text: str) -> tuple[str, str, str] | None:
    if flag == "-p":
        flag, text = "-F", f"perm={text}"
    found = _FIELD.fullmatch(text)
    if found is None or flag not in ("-F", "-C"):
        return None
    name, sign, value = normalize_field_name(found[1]), found[2], found[3]
    if flag == "-C":
        one, other = sorted((name, normalize_field_name(value)))
        return "-C", sign, f"{one} {other}"
    return name, sign, next(_yield_field_value_in_kernel_form(name, value), value)


def _yield_field_value_in_kernel_form(field_name: str, value: str) -> Iterator[str]:
    """Yield the value as the kernel gets it, if it has several spellings. Numbers are read as C reads them."""
    if field_name == "perm":
        yield "".join(sorted(set(fold_case(value))))
    elif field_name == "arch":
        yield _MACHINES.get(fold_case(value), fold_case(value))
    elif field_name in _ACCOUNTS and value in ("unset", "root"):
        yield "unset" if value == "unset" else "0"
    elif field_name == "exit" and (code := getattr(errno, value.removeprefix("-").upper(), None)) is not None:
        yield f"-{code}" if value.startswith("-") else str(code)
    elif field_name not in ("path", "dir", "exe", "key") and NUMBER.fullmatch(value):
        number = parse_leading_number(value)
        account = number & UNSET if field_name in _ACCOUNTS else number
        yield "unset" if field_name in _ACCOUNTS and account == UNSET else str(account)


def _spell_field(field: tuple[str, str, str]) -> str:
    name, sign, value = field
    return f"-C {value.replace(' ', sign)}" if name == "-C" else f"-F {name}{sign}{value}"
