"""Probes whether auditing would halt the host: on a full disk, or when too much is recorded."""

import itertools
import re
from fnmatch import fnmatchcase

from app.syntax import audit_rule_files, host_text, key_value_config_parsers
from app.syntax.audit_rule_files import AuditLine
from app.targets.questions.probe_answer import DiskUsage, ProbeAnswer, ProbedHost

AUDITD = "/etc/audit/auditd.conf"
_RULES = ("/etc/audit/audit.rules", "/etc/audit/rules.d/*.rules")
_MIB = 1024 * 1024
_ENDS = ("halt", "single")
"""Actions that take the host away from its users."""
_THRESHOLDS = (
    ("space_left", "space_left_action"),
    ("admin_space_left", "admin_space_left_action"),
    ("", "disk_full_action"),
)
_PANIC = "2"
_LEAST_BACKLOG = 64
_HOT_FILES = (
    *("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/share", "/var/log", "/var/lib"),
    "*/lib/x86_64-linux-gnu",
    *("*/libc.so*", "*/libc-*.so", "*/ld-linux*", "*/libpthread*", "*/libm.so*", "*/libdl*", "*/bin/*sh"),
    *("/etc/ld.so.cache", "/etc/localtime", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts"),
)
"""Paths that programs read constantly, besides the folders at the root."""
_HOT_CALLS = re.compile(
    r"all|read|readv|pread64|write|writev|open|openat|openat2|close|stat|fstat|lstat|newfstatat|statx|access|mmap"
    r"|mprotect|brk|futex|poll|epoll_wait|select|ioctl|fcntl|clone|fork|vfork|recvfrom|sendto|recvmsg|sendmsg"
)
_NARROWS_NOTHING = ("arch", "key", "perm", "path", "dir")


def probe_audit_disk(host: ProbedHost) -> ProbeAnswer:
    text = host_text.read_text(host.files, AUDITD)
    if text is None:
        return ProbeAnswer(True, f"there is no {AUDITD}, so no audit daemon acts on a full disk")
    settings, _ = key_value_config_parsers.parse_auditd_with_problems(text, AUDITD)
    told = {one.key: one.value.lower() for one in settings}
    if host.fill is None:
        detail = "how full the audit log's disk is cannot be known here, so nothing is said of it"
        return ProbeAnswer(True, detail, asked=False)
    free = f"{host.fill.free // _MIB} of {host.fill.size // _MIB} MiB are free"
    for threshold, action in _THRESHOLDS:
        does = told.get(action, "")
        below = _parse_threshold_bytes(told.get(threshold, "0"), host.fill)
        if does in _ENDS and host.fill.free <= below:
            when = f"{threshold} {told[threshold]}" if threshold in told else "a full disk"
            return ProbeAnswer(False, f"auditd goes to {does} now and at each boot: {action} at {when}, and {free}")
    return ProbeAnswer(True, f"no action of auditd's takes the host down as its disk is filled now: {free}")


def _parse_threshold_bytes(value: str, disk_usage: DiskUsage) -> int:
    digits = value.removesuffix("%")
    number = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 12 else 0
    return disk_usage.size * number // 100 if value.endswith("%") else number * _MIB


def probe_audit_panic(host: ProbedHost) -> ProbeAnswer:
    lines = [
        line
        for pattern in _RULES
        for path in host_text.glob_paths_like_shell(host.files, pattern)
        for line in audit_rule_files.parse_audit_lines(host_text.read_text(host.files, path) or "", path)
    ]
    if not any(line.control and line.control.key == "-f" and line.control.value == _PANIC for line in lines):
        return ProbeAnswer(True, "what the audit system cannot write does not stop the kernel")
    tight = next((line for line in lines if _is_backlog_too_small(line)), None)
    flood = next((line for line in lines if is_audit_rule_too_broad(line)), None)
    for line in (flood, tight):
        if line:
            said = f"{' '.join(line.words)} loses some ({line.path} line {line.line})"
            return ProbeAnswer(False, f"the kernel stops when records are lost, and {said}")
    return ProbeAnswer(True, "the kernel stops when audit records are lost, and no rule is seen that would flood it")


def _is_backlog_too_small(line: AuditLine) -> bool:
    if line.words[0] == "--backlog_wait_time":
        return line.words[1:] == ("0",)
    control = line.control
    value = host_text.parse_natural_number(control.value) if control and control.key == "-b" else None
    return value is not None and value < _LEAST_BACKLOG


def is_audit_rule_too_broad(line: AuditLine) -> bool:
    """Return True if the rule records something that every program does constantly."""
    words = line.words
    if words[0] == "-w" and len(words) > 1:
        permissions = "".join(_list_option_values("-p", words)) or "rwxa"
        return _is_hot_path(words[1]) and _includes_reading_or_execution(permissions)
    if words[0] not in ("-a", "-A") or len(words) < 2 or "never" in words[1].split(","):
        return False
    fields = _list_option_values("-F", words)
    if any(re.split(r"[!<>=&]", field)[0] not in _NARROWS_NOTHING for field in fields):
        return False
    named = dict(field.split("=", 1) for field in fields if "=" in field)
    place = named.get("path") or named.get("dir")
    if place is not None:
        return _is_hot_path(place) and _includes_reading_or_execution(named.get("perm", "rwxa"))
    calls = [call for listed in _list_option_values("-S", words) for call in listed.split(",")]
    return not calls or any(_HOT_CALLS.fullmatch(call) for call in calls)


def _is_hot_path(path: str) -> bool:
    whole = "/" + path.strip("/")
    return whole.count("/") == 1 or any(fnmatchcase(whole, pattern) for pattern in _HOT_FILES)


def _includes_reading_or_execution(permissions: str) -> bool:
    return bool({"r", "x"} & set(permissions))


def _list_option_values(flag: str, words: tuple[str, ...]) -> list[str]:
    return [value for one, value in itertools.pairwise(words) if one == flag]
