"""Set an option in a file. The path determines the syntax, and the syntax determines the place."""

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from app.errors import BadInput
from app.syntax import edit_options, edit_shell, edit_sshd, edit_tables, keyvalue, sysctl
from app.syntax.edit_options import OptionFile

Get = Callable[[str, str], str | None]
Put = Callable[[str, str, str], str]


@dataclass(frozen=True)
class Dialect:
    paths: tuple[str, ...]
    get: Get
    put: Put
    section: str = ""
    """The section for keys without one, in files that have sections."""


def _options(*paths: str, options: OptionFile) -> Dialect:
    return Dialect(paths, options.get, options.put)


DIALECTS = (
    Dialect(
        (
            "/etc/ssh/sshd_config",
            "/etc/ssh/sshd_config.d/*.conf",
            "/etc/crypto-policies/back-ends/opensshserver.config",
        ),
        edit_sshd.get,
        edit_sshd.put,
    ),
    _options("/etc/login.defs", options=OptionFile(keyvalue.login_defs, "\t", comments=False)),
    _options(
        "/etc/security/pwquality.conf",
        "/etc/security/pwquality.conf.d/*.conf",
        options=OptionFile(keyvalue.options, " = ", comments=True, folded=True),
    ),
    _options("/etc/security/faillock.conf", options=OptionFile(keyvalue.options, " = ", comments=True)),
    _options("/etc/audit/auditd.conf", options=OptionFile(edit_options.auditd, " = ", comments=False, folded=True)),
    _options("/etc/sysctl.conf", "/etc/sysctl.d/*.conf", options=OptionFile(sysctl.options, " = ", comments=False)),
    Dialect(("/etc/dnf/dnf.conf",), edit_options.ini_get, edit_options.ini_put, section="main"),
    Dialect(("/etc/yum.repos.d/*.repo", "/etc/mission/*.conf"), edit_options.ini_get, edit_options.ini_put),
    Dialect(
        ("/etc/security/limits.conf", "/etc/security/limits.d/*.conf"),
        edit_tables.limits_get,
        edit_tables.limits_put,
    ),
    Dialect(("/etc/modprobe.d/*.conf",), edit_tables.modprobe_get, edit_tables.modprobe_put),
    Dialect(("/etc/audit/audit.rules", "/etc/audit/rules.d/*.rules"), edit_tables.audit_get, edit_tables.audit_put),
    Dialect(("/etc/profile.d/*.sh",), edit_shell.get, edit_shell.put),
)


def set_option(path: str, text: str, key: str, value: str) -> str:
    """Return the text with the option in force; raise BadInput if the file's syntax cannot hold it."""
    dialect = _dialect(path)
    name = _name(dialect, path, key)
    if "\n" in value or "\r" in value or value != value.strip():
        raise BadInput(f"the value for {key!a} must be one line without blanks around it")
    result = dialect.put(text, name, value)
    read_back = dialect.get(result, name)
    wanted = edit_sshd.written(value) if dialect.put is edit_sshd.put else value
    if read_back is None or read_back != wanted or dialect.put(result, name, value) != result:
        raise BadInput(
            f"{path} cannot hold {key!a} with this value; use replace_line or write_file and mind its syntax"
        )
    return result


def option(path: str, text: str, key: str) -> str | None:
    """Return the value that this file alone gives the key; the file's own rule decides which line counts."""
    dialect = _dialect(path)
    return dialect.get(text, _name(dialect, path, key))


def knows(path: str) -> bool:
    """Return True if set_option supports the file's syntax."""
    return any(fnmatchcase(path, p) and path.count("/") == p.count("/") for one in DIALECTS for p in one.paths)


def _dialect(path: str) -> Dialect:
    for dialect in DIALECTS:
        if any(fnmatchcase(path, known) and path.count("/") == known.count("/") for known in dialect.paths):
            return dialect
    known = ", ".join(pattern for dialect in DIALECTS for pattern in dialect.paths)
    raise BadInput(f"set_option does not know the syntax of {path}; use replace_line there. It knows {known}")


def _name(dialect: Dialect, path: str, key: str) -> str:
    if dialect.get is not edit_options.ini_get or "." in key:
        return key
    if not dialect.section:
        raise BadInput(f"{path} has sections: name the key as section.key")
    return f"{dialect.section}.{key}"
