"""Loads audit rules as auditctl and the kernel do: what takes effect, and which lines are rejected."""

import posixpath
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.syntax import account_files, audit_rule_files, host_text
from app.syntax.audit_fields import ACCOUNTS, ARGUMENTS, GROUPS, UNSET, AuditField, HostNames
from app.syntax.audit_rule_files import AuditLine
from app.syntax.auditctl import AuditCommand, read_command
from app.syntax.host_files_protocol import Files

_CALLS = Path(audit_rule_files.__file__).with_name("audit_calls.toml")
_ABSENT, _INVALID, _EXISTS = "No such file or directory", "Invalid argument", "Rule exists"
_TOO_LONG, _LOCKED = "File name too long", "Operation not permitted"
_LONGEST_NAME, _LONGEST_PATH = 255, 4095
_MOST_WAIT = 600_000
"""Ten times 60 s in ticks of the fastest clock; a slower clock has a lower limit."""
_MOST_COMPARE = 25
_SIGNS_OF_BITS = ("&", "&=")
_WITH_BITS = (*ARGUMENTS, "pers", "devminor")
_ORDERED = (*ACCOUNTS, *GROUPS, "pid", "ppid", "msgtype", "devmajor", "exit", "success", "inode", "sessionid",
            "subj_sen", "subj_clr", "obj_lev_low", "obj_lev_high", "saddr_fam", *_WITH_BITS)  # fmt: skip
"""Fields that the kernel compares by more than equality."""
_MACHINES = (
    ("aarch64", "/usr/lib/aarch64-linux-gnu", "/usr/lib/modules/*.aarch64"),
    ("x86_64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/modules/*.x86_64"),
)
"""A machine, the folder of its libraries on Debian, and of its kernels on RHEL."""


@dataclass(frozen=True)
class LoadFault:
    line: AuditLine
    reason: str

    @property
    def identity(self) -> tuple[tuple[str, ...], str]:
        """What makes it the same fault after other lines moved."""
        return self.line.words, self.reason

    def describe(self) -> str:
        where = f"{self.line.path} line {self.line.line}"
        return f"audit rules would load only up to {' '.join(self.line.words)!r} ({where}): {self.reason}."


@dataclass(frozen=True)
class LoadedRules:
    """The result with rejected lines skipped; without `-i` or `-c` loading stops at the first of them."""

    options: tuple[AuditLine, ...]
    """Controls and options, in order."""
    rules: tuple[str, ...]
    """Rules in the order in which the kernel tries them."""
    faults: tuple[LoadFault, ...]


def load_audit_lines(lines: Iterable[AuditLine], files: Files) -> LoadedRules:
    options: list[AuditLine] = []
    faults: list[LoadFault] = []
    rules: dict[object, str] = {}
    locked = goes_on = False
    names = _read_lookup_tables(files)
    for line in lines:
        command = _read_line_for_machines_preferring_faulty_reading(line, names, files)
        reason = _LOCKED if locked else command.fault or next(_list_kernel_reasons(command, rules, files), "")
        goes_on |= command.ignores_errors
        if reason:
            faults += [] if goes_on else [LoadFault(line, reason)]
        elif command.clears:
            rules.clear()
        elif command.is_deletion:
            del rules[command.identity]
        elif command.adds:
            added: dict[object, str] = {command.identity: line.normalized_or_raw_rule_text or " ".join(line.words)}
            rules = added | rules if command.is_prepended else rules | added
        elif not command.is_skipped:
            options.append(line)
            locked = ("-e", "2") in command.requests
    return LoadedRules(tuple(options), tuple(rules.values()), tuple(faults))


def _read_line_for_machines_preferring_faulty_reading(
    line: AuditLine, names: tuple[HostNames, ...], files: Files
) -> AuditCommand:
    """Read the line for each machine that the host may be; return the first reading with a fault, if there is one."""
    found = [read_command(line.words, one, lambda path: _is_folder(path, files)) for one in names]
    return next((command for command in found if command.fault), found[0])


def _list_kernel_reasons(command: AuditCommand, rules: Mapping[object, str], files: Files) -> Iterator[str]:
    """Yield why the kernel rejects what auditctl sends."""
    for name, value in command.requests:
        wait = host_text.parse_natural_number(value)
        if name == "--backlog_wait_time" and (wait is None or wait > _MOST_WAIT):
            yield _INVALID
    if not command.adds:
        return
    yield from _list_field_reasons(command)
    yield from (reason for one in command.fields if one.name == "exe" for reason in _list_path_reasons(one, files))
    known = command.identity in rules
    if command.is_deletion:
        yield from () if known else (_ABSENT,)
        return
    if known and not command.is_prepended:
        yield _EXISTS
    yield from (
        reason for one in command.fields if one.name in ("path", "dir") for reason in _list_path_reasons(one, files)
    )


def _list_field_reasons(command: AuditCommand) -> Iterator[str]:
    names = Counter(one.name for one in command.fields)
    if max(names["path"] + names["dir"] + names["inode"], names["exe"], names["key"]) > 1:
        yield _INVALID
    for one in command.fields:
        is_unset = one.number == UNSET and one.name in (*ACCOUNTS, *GROUPS)
        only_equal = one.name not in _ORDERED or (is_unset and one.name == "auid")
        if command.adds == "filesystem" and one.name not in ("fstype", "key"):
            yield _INVALID
        if (only_equal and one.sign not in ("=", "!=")) or (one.sign in _SIGNS_OF_BITS and one.name not in _WITH_BITS):
            yield _INVALID
        if (is_unset and one.name != "auid") or (one.name == "field_compare" and (one.number or 0) > _MOST_COMPARE):
            yield _INVALID


def _list_path_reasons(field: AuditField, files: Files) -> Iterator[str]:
    path, name = field.value, field.value.rpartition("/")[2]
    encoded = host_text.encode_text(path)
    if not path.startswith("/") or (field.sign != "=" and field.name != "exe"):
        yield _INVALID
    elif len(encoded) > _LONGEST_PATH or any(len(part) > _LONGEST_NAME for part in encoded.split(b"/")):
        yield _TOO_LONG
    elif field.name == "dir":
        yield from () if _is_folder(path, files) else (_ABSENT,)
    elif name in ("", ".", ".."):
        yield _INVALID
    elif not _is_folder(path.rpartition("/")[0], files) or (path.startswith("/proc/") and files.state(path) is None):
        yield _ABSENT


def _is_folder(path: str, files: Files) -> bool:
    parts = path.split("/")
    ways = [parts[:at] for at, part in enumerate(parts) if part == ".."]
    plain = posixpath.normpath(path or "/").replace("//", "/")
    return all(_is_folder("/".join(way), files) for way in ways) and (plain == "/" or files.is_folder(plain))


def _read_lookup_tables(files: Files) -> tuple[HostNames, ...]:
    """Return what auditctl looks up there, for each machine that the host may be."""
    accounts, _ = account_files.parse_passwd_with_problems(host_text.read_text(files, "/etc/passwd") or "")
    groups, _ = account_files.parse_group_with_problems(host_text.read_text(files, "/etc/group") or "")
    by_name, by_group = {one.name: int(one.uid) for one in accounts}, {one.name: int(one.gid) for one in groups}
    return tuple(
        HostNames(by_name, by_group, _read_call_table(), machine)
        for machine in _detect_machine_types_defaulting_to_x86_64(files)
    )


@cache
def _read_call_table() -> Mapping[str, frozenset[str]]:
    text = tomllib.loads(_CALLS.read_text())
    return {machine: frozenset(names.split()) for machine, names in text.items()}


def _detect_machine_types_defaulting_to_x86_64(files: Files) -> tuple[str, ...]:
    """Return the machines that the host's libraries or kernels are built for; x86_64 if it shows none."""
    found = tuple(name for name, libraries, kernels in _MACHINES if files.is_folder(libraries) or files.glob(kernels))
    return found or ("x86_64",)
