"""Files that meet an entry of the table, and files that narrowly do not."""

from app.skills.stig_wide.pack import load_table
from app.skills.stig_wide.rule_table_schema import AuditEntry, FileEntry, ModuleEntry, ValueEntry
from app.syntax.audit_rule_normalization import parse_audit_rule

_PATHS = {
    "sshd": ("/etc/ssh/sshd_config", "{key} {value}\n"),
    "login_defs": ("/etc/login.defs", "{key}\t{value}\n"),
    "pwquality": ("/etc/security/pwquality.conf", "{key} = {value}\n"),
    "faillock": ("/etc/security/faillock.conf", "{key} = {value}\n"),
    "auditd": ("/etc/audit/auditd.conf", "{key} = {value}\n"),
    "dnf": ("/etc/dnf/dnf.conf", "[main]\n{key}={value}\n"),
    "limits": ("/etc/security/limits.conf", "* hard {key} {value}\n"),
    "sysctl": ("/etc/sysctl.d/70-site.conf", "{key} = {value}\n"),
}
BARE = {"/usr/lib/sysctl.d/50-default.conf": ""}
"""A host without the files of sysctl.d that RHEL ships: where no such folder is visible, they count as there."""
ENTRIES = {
    rule: (kind, entry)
    for kind in load_table().__struct_fields__
    for rule, entry in getattr(load_table(), kind).rules.items()
}


def build_right(kind, entry):
    match entry:
        case ModuleEntry():
            return _write_module(entry, f"install {entry.module} /bin/false", f"blacklist {entry.module}")
        case AuditEntry():
            return {"/etc/audit/audit.rules": "".join(f"{line}\n" for line in entry.lines)}
        case _:
            return _write_value(kind, entry, entry.value_to_set)


def build_wrong(kind, entry):
    """Yield hosts that each lack one thing, with a name for it."""
    yield "nothing", {}
    yield "commented out", {path: _comment(text) for path, text in build_right(kind, entry).items()}
    match entry:
        case ModuleEntry(module=name):
            install, ban = f"install {name} /bin/false", f"blacklist {name}"
            yield "no blacklist", _write_module(entry, install)
            yield "no install", _write_module(entry, ban)
            yield "another command", _write_module(entry, f"install {name} /sbin/modprobe -i {name}", ban)
        case AuditEntry():
            for line in entry.lines:
                kept = [one for one in entry.lines if one != line]
                for left in _lack_a_part(line):
                    yield left or "no line", {"/etc/audit/audit.rules": "\n".join([*kept, left])}
        case _:
            for value in _list_wrong_values(entry):
                yield value, _write_value(kind, entry, value)
                both = [_write_value(kind, entry, one) for one in (entry.value_to_set, value)]
                path = next(iter(both[0]))
                yield f"right, then {value}", {path: both[0][path] + both[1][path]}
                if kind != "sysctl":  # where the last line counts
                    yield f"{value}, then right", {path: both[1][path] + both[0][path]}


def _lack_a_part(line):
    yield ""
    rule, calls = parse_audit_rule(line.split()), line.partition(" -S ")[2].partition(" ")[0]
    for call in rule.calls if rule else ():
        yield line.replace(calls, ",".join(one for one in calls.split(",") if one != call) or "acct")
    others = {"always": "never", "perm=wa": "perm=w", "perm=x": "perm=r"}
    others |= dict.fromkeys(("arch=b32", "arch=b64", "auid>=1000", "euid=0", "exit=-EPERM"), "sessionid=7")
    yield from (line.replace(one, other) for one, other in others.items() if one in line)


def _list_wrong_values(entry):
    numbers = [entry.least - 1] if entry.least is not None else []
    numbers += [entry.most + 1] if entry.most is not None else []
    numbers += [entry.other_than] if entry.other_than is not None else []
    yield from (f"{one}{entry.unit}" for one in numbers)
    if entry.unit:
        yield str(entry.least)
    if not entry.flag:
        yield f"{entry.value_to_set}x"
        yield "none" if entry.equals != "none" else "external"


def _write_value(kind, entry, value):
    if isinstance(entry, FileEntry):
        sign = " " if "chrony" in entry.path else "="
        head = f"[{entry.section}]\n" if entry.section else ""
        return {entry.path: f"{head}{entry.key}{sign}{value}\n"}
    path, form = _PATHS[kind]
    assert isinstance(entry, ValueEntry)
    return {path: f"{entry.name}\n" if entry.flag else form.format(key=entry.name, value=value)}


def _write_module(entry, *lines):
    return {f"/etc/modprobe.d/{entry.module}.conf": "".join(f"{line}\n" for line in lines)}


def _comment(text):
    return "".join(line if line.startswith("[") else f"#{line}" for line in text.splitlines(keepends=True))
