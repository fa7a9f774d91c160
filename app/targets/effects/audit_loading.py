"""Loads audit rules as auditctl and the kernel do: what takes effect, and which lines are rejected."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from app.syntax import audit, host_text
from app.syntax.audit import AuditLine
from app.syntax.audit_rule import AuditRule, parse_audit_rule
from app.syntax.files import Files

_CALLS = Path(audit.__file__).with_name("audit_calls.toml")
_ABSENT, _INVALID, _EXISTS = "No such file or directory", "Invalid argument", "Rule exists"
_TOO_LONG, _LOCKED = "File name too long", "Operation not permitted"
_LONGEST_NAME, _LONGEST_PATH, _LONGEST_KEY = 255, 4095, 256
_MOST_FIELDS = 64
_MOST_WAIT = 600_000
"""Ten times 60 s in ticks of the fastest clock; a slower clock has a lower limit."""
_MACHINES = (
    ("aarch64", "/usr/lib/aarch64-linux-gnu", "/usr/lib/modules/*.aarch64"),
    ("x86_64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/modules/*.x86_64"),
)
"""A machine, the folder of its libraries on Debian, and of its kernels on RHEL."""
_THIRTY_TWO = {"x86_64": "i386", "aarch64": "arm"}


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
    rules: dict[str, str] = {}
    locked = False
    for line in lines:
        parsed = parse_audit_rule(line.words) if line.rule is not None else None
        rule = _resolve_watch(parsed, files) if parsed else None
        identity = replace(rule, prepended=False).words if rule else line.rule
        reasons = _list_reasons(line, rule, files)
        if identity in rules and not (rule and rule.prepended):
            reasons = iter((_EXISTS,))
        if reason := _LOCKED if locked else next(reasons, ""):
            faults.append(LoadFault(line, reason))
        elif line.words == ("-D",):
            rules.clear()
        elif line.rule is not None and identity is not None:
            rules = {identity: line.rule, **rules} if rule and rule.prepended else {**rules, identity: line.rule}
        else:
            options.append(line)
            locked = line.switch is not None and (line.switch.key, line.switch.value) == ("-e", "2")
    return LoadedRules(tuple(options), tuple(rules.values()), tuple(faults))


def _resolve_watch(rule: AuditRule, files: Files) -> AuditRule:
    """Return the rule as auditctl sends it: a watch on a folder is about everything below it."""
    _, sign, path = rule.fields[0] if rule.fields else ("", "", "")
    if not rule.is_watch or not path.startswith("/") or not files.is_folder(path):
        return rule
    return replace(rule, fields=(("dir", sign, path), *rule.fields[1:]))


def _list_reasons(line: AuditLine, rule: AuditRule | None, files: Files) -> Iterator[str]:
    """Yield why auditctl or the kernel rejects the line."""
    if line.words[0] == "--backlog_wait_time" and (
        (wait := host_text.parse_number(" ".join(line.words[1:]))) is None or wait > _MOST_WAIT
    ):
        yield _INVALID
    if rule is None:
        return
    yield from _list_path_reasons(rule, files)
    if len(rule.fields) > _MOST_FIELDS:
        yield "too many fields"
    if sum(len(key) + 1 for key in rule.get_values("key")) > _LONGEST_KEY + 1:
        yield f"the key is longer than {_LONGEST_KEY} characters"
    yield from _list_call_reasons(rule, files)


def _list_path_reasons(rule: AuditRule, files: Files) -> Iterator[str]:
    places = [(name, sign, value) for name, sign, value in rule.fields if name in ("path", "dir", "exe")]
    if len([name for name, _, _ in places if name != "exe"]) > 1:
        yield _INVALID
    for name, sign, path in places:
        ends_wrong = path.endswith("/") and name != "dir" and path != "/"
        if not path.startswith("/") or (sign != "=" and name != "exe") or ends_wrong:
            yield _INVALID
        elif len(path) > _LONGEST_PATH or any(len(part.encode()) > _LONGEST_NAME for part in path.split("/")):
            yield _TOO_LONG
        elif not _is_present_folder(path if name == "dir" else path.rpartition("/")[0], files):
            yield _ABSENT


def _is_present_folder(path: str, files: Files) -> bool:
    plain = path.rstrip("/")
    return not plain or files.is_folder(plain)


def _list_call_reasons(rule: AuditRule, files: Files) -> Iterator[str]:
    named = [call for call in rule.calls if not call.isdigit()]
    if not named:
        return
    table = _read_call_table()
    for machine in _detect_machines(files):
        ours = _THIRTY_TWO[machine] if rule.get_values("arch") == ["b32"] else machine
        for call in named:
            if call not in table[ours]:
                yield f"Syscall name unknown: {call} (on {ours})"


@cache
def _read_call_table() -> Mapping[str, frozenset[str]]:
    text = tomllib.loads(_CALLS.read_text())
    return {machine: frozenset(names.split()) for machine, names in text.items()}


def _detect_machines(files: Files) -> tuple[str, ...]:
    """Return the machines that the host's libraries or kernels are built for; x86_64 if it shows none."""
    found = tuple(name for name, libraries, kernels in _MACHINES if files.is_folder(libraries) or files.glob(kernels))
    return found or ("x86_64",)
