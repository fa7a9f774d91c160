"""Set an option in a file. The path determines the syntax, and the syntax determines the place."""

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from app.errors import BadInput
from app.syntax import limits_conf, limits_modprobe_audit_edits, modprobe, shell_assignments, sshd
from app.syntax.edit_options import OptionFile, find_ini_option, parse_auditd_settings, put_ini_option
from app.syntax.edit_sshd import compute_read_back_value, find_sshd_option, put_sshd_option
from app.syntax.key_value_config_parsers import parse_login_defs, parse_options
from app.syntax.sysctl import parse_sysctl_options

Get = Callable[[str, str], str | None]
Put = Callable[[str, str, str], str]


@dataclass(frozen=True)
class Dialect:
    paths: tuple[str, ...]
    get: Get
    put: Put
    section: str = ""
    """The section for keys without one, in files that have sections."""


def _build_dialect(*paths: str, options: OptionFile) -> Dialect:
    return Dialect(paths, options.get, options.put)


DIALECTS = (
    Dialect((sshd.MAIN, "/etc/ssh/sshd_config.d/*.conf", sshd.BACKEND), find_sshd_option, put_sshd_option),
    _build_dialect("/etc/login.defs", options=OptionFile(parse_login_defs, "\t")),
    _build_dialect(
        "/etc/security/pwquality.conf",
        "/etc/security/pwquality.conf.d/*.conf",
        options=OptionFile(parse_options, " = ", comments=True, folded=True),
    ),
    _build_dialect("/etc/security/faillock.conf", options=OptionFile(parse_options, " = ", comments=True)),
    _build_dialect("/etc/audit/auditd.conf", options=OptionFile(parse_auditd_settings, " = ", folded=True)),
    _build_dialect("/etc/sysctl.conf", "/etc/sysctl.d/*.conf", options=OptionFile(parse_sysctl_options, " = ")),
    Dialect(("/etc/dnf/dnf.conf",), find_ini_option, put_ini_option, section="main"),
    Dialect(("/etc/yum.repos.d/*.repo", "/etc/mission/*.conf"), find_ini_option, put_ini_option),
    Dialect(
        (limits_conf.MAIN, limits_conf.FOLDER),
        limits_modprobe_audit_edits.find_limit,
        limits_modprobe_audit_edits.put_limit,
    ),
    Dialect(
        (modprobe.FOLDER,),
        limits_modprobe_audit_edits.find_module_command_value,
        limits_modprobe_audit_edits.put_kernel_module_option,
    ),
    Dialect(
        ("/etc/audit/audit.rules", "/etc/audit/rules.d/*.rules"),
        limits_modprobe_audit_edits.find_audit_control,
        limits_modprobe_audit_edits.put_audit_control,
    ),
    Dialect(
        ("/etc/profile.d/*.sh",), shell_assignments.find_unconditionally_assigned_value, shell_assignments.put_variable
    ),
)


def set_option(path: str, text: str, key: str, value: str) -> str:
    """Return the text with the option in force; raise BadInput if the file's syntax cannot hold it."""
    dialect = _find_dialect(path)
    if dialect is None:
        known = ", ".join(pattern for one in DIALECTS for pattern in one.paths)
        raise BadInput(f"set_option does not know the syntax of {path}; use replace_line there. It knows {known}")
    name = _qualify_key(dialect, path, key)
    if "\n" in value or "\r" in value or value != value.strip():
        raise BadInput(f"the value for {key!a} must be one line without blanks around it")
    result = dialect.put(text, name, value)
    wanted = value
    if dialect.put is put_sshd_option:
        wanted = compute_read_back_value(value)
    elif dialect.put is limits_modprobe_audit_edits.put_kernel_module_option and name.strip() == "blacklist":
        wanted = modprobe.normalize_module_name(value)
    if dialect.get(result, name) != wanted or dialect.put(result, name, value) != result:
        raise BadInput(
            f"{path} cannot hold {key!a} with this value; use replace_line or write_file and mind its syntax"
        )
    return result


def can_set_option(path: str) -> bool:
    return _find_dialect(path) is not None


def _find_dialect(path: str) -> Dialect | None:
    for dialect in DIALECTS:
        if any(fnmatchcase(path, known) and path.count("/") == known.count("/") for known in dialect.paths):
            return dialect
    return None


def _qualify_key(dialect: Dialect, path: str, key: str) -> str:
    if dialect.get is not find_ini_option or "." in key:
        return key
    if not dialect.section:
        raise BadInput(f"{path} has sections: name the key as section.key")
    return f"{dialect.section}.{key}"
