"""The keys of auditd.conf, their valid values and their defaults."""

import re
from collections.abc import Mapping

ACTIONS = ("ignore", "suspend", "rotate", "syslog", "email", "single", "halt")
"""Weakest first. `exec` depends on its program and is not ranked."""

_NUMBER, _YES_NO, _ANY = r"[0-9]{1,9}", "yes|no", r"\S+"
_SPACE = r"[0-9]{1,9}|[0-9]{1,2}%"
_ACTION = r"(?:ignore|syslog|rotate|email|suspend|single|halt)(?: .+)?|exec /.+"
_VALUES: Mapping[str, str] = {
    "local_events": _YES_NO,
    "write_logs": _YES_NO,
    "log_file": r"/.{3,}",
    "log_format": "raw|nolog|enriched",
    "log_group": _ANY,
    "flush": "none|incremental|incremental_async|data|sync",
    "freq": _NUMBER,
    "num_logs": r"[0-9]{1,3}",
    "dispatcher": _ANY,
    "name_format": "none|hostname|fqd|numeric|user",
    "name": _ANY,
    "disp_qos": _ANY,
    "max_log_file": _NUMBER,
    "max_log_file_action": "ignore|syslog|suspend|rotate|keep_logs",
    "space_left": _SPACE,
    "space_left_action": _ACTION,
    "action_mail_acct": r"[A-Za-z0-9@._-]{2,}",
    "verify_email": _YES_NO,
    "admin_space_left": _SPACE,
    "admin_space_left_action": _ACTION,
    "disk_full_action": _ACTION.replace("email|", ""),
    "disk_error_action": _ACTION.replace("rotate|email|", ""),
    "priority_boost": _NUMBER,
    "tcp_listen_port": _NUMBER,
    "tcp_listen_queue": _NUMBER,
    "tcp_max_per_addr": _NUMBER,
    "use_libwrap": _YES_NO,
    "tcp_client_ports": r"[0-9]{1,5}(?:-[0-9]{1,5})?",
    "tcp_client_max_idle": _NUMBER,
    "transport": "tcp|krb5",
    "enable_krb5": _YES_NO,
    "krb5_principal": _ANY,
    "krb5_key_file": _ANY,
    "distribute_network": _YES_NO,
    "q_depth": r"[0-9]{1,5}",
    "overflow_action": "ignore|syslog|suspend|single|halt",
    "max_restarts": _NUMBER,
    "plugin_dir": _ANY,
    "end_of_event_timeout": _NUMBER,
    "report_interval": _ANY,
}
DEFAULTS: Mapping[str, str] = {
    "local_events": "yes",
    "write_logs": "yes",
    "log_file": "/var/log/audit/audit.log",
    "log_format": "raw",
    "log_group": "root",
    "flush": "none",
    "freq": "0",
    "num_logs": "0",
    "name_format": "none",
    "max_log_file": "0",
    "max_log_file_action": "ignore",
    "space_left": "0",
    "space_left_action": "ignore",
    "action_mail_acct": "root",
    "verify_email": "yes",
    "admin_space_left": "0",
    "admin_space_left_action": "ignore",
    "disk_full_action": "ignore",
    "disk_error_action": "syslog",
    "priority_boost": "4",
    "use_libwrap": "yes",
    "q_depth": "2000",
    "overflow_action": "syslog",
    "distribute_network": "no",
}


def is_valid_value(key: str, value: str) -> bool:
    """Return True if auditd accepts the value for this key; words match in any case."""
    return key in _VALUES and re.fullmatch(_VALUES[key], value, re.IGNORECASE | re.ASCII) is not None
