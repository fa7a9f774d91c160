"""The keys of auditd.conf, their valid values and their defaults."""

import re
from collections.abc import Mapping

from app.syntax.host_text import split_names

ACTIONS = ("ignore", "suspend", "rotate", "syslog", "email", "single", "halt")
"""Weakest first. `exec` depends on its program and is not ranked."""

_SPACE = r"[0-9]{1,9}|[0-9]{1,2}%"
_ACTION = r"(?:ignore|syslog|rotate|email|suspend|single|halt)(?: .+)?|exec /.+"
_FLAGS = split_names("local_events write_logs verify_email use_libwrap enable_krb5 distribute_network")
_NUMBERS = split_names("""
    freq max_log_file priority_boost tcp_listen_port tcp_listen_queue tcp_max_per_addr tcp_client_max_idle max_restarts
    end_of_event_timeout
""")
_WORDS = split_names("log_group dispatcher name disp_qos krb5_principal krb5_key_file plugin_dir report_interval")
_VALUES: Mapping[str, str] = {
    **dict.fromkeys(_FLAGS, "yes|no"),
    **dict.fromkeys(_NUMBERS, r"[0-9]{1,9}"),
    **dict.fromkeys(_WORDS, r"\S+"),
    **dict.fromkeys(("space_left", "admin_space_left"), _SPACE),
    **dict.fromkeys(("space_left_action", "admin_space_left_action"), _ACTION),
    "disk_full_action": _ACTION.replace("email|", ""),
    "disk_error_action": _ACTION.replace("rotate|email|", ""),
    "max_log_file_action": "ignore|syslog|suspend|rotate|keep_logs",
    "overflow_action": "ignore|syslog|suspend|single|halt",
    "log_file": r"/.{3,}",
    "log_format": "raw|nolog|enriched",
    "flush": "none|incremental|incremental_async|data|sync",
    "num_logs": r"[0-9]{1,3}",
    "name_format": "none|hostname|fqd|numeric|user",
    "action_mail_acct": r"[A-Za-z0-9@._-]{2,}",
    "tcp_client_ports": r"[0-9]{1,5}(?:-[0-9]{1,5})?",
    "transport": "tcp|krb5",
    "q_depth": r"[0-9]{1,5}",
}
DEFAULTS: Mapping[str, str] = {
    **dict.fromkeys(("local_events", "write_logs", "verify_email", "use_libwrap"), "yes"),
    **dict.fromkeys(("freq", "num_logs", "max_log_file", "space_left", "admin_space_left"), "0"),
    **dict.fromkeys(("space_left_action", "admin_space_left_action", "disk_full_action"), "ignore"),
    **dict.fromkeys(("disk_error_action", "overflow_action"), "syslog"),
    "max_log_file_action": "ignore",
    "log_file": "/var/log/audit/audit.log",
    "log_format": "raw",
    "log_group": "root",
    "flush": "none",
    "name_format": "none",
    "action_mail_acct": "root",
    "priority_boost": "4",
    "q_depth": "2000",
    "distribute_network": "no",
}


def is_valid_value(key: str, value: str) -> bool:
    """Return True if auditd accepts the value for this key; words match in any case."""
    return key in _VALUES and re.fullmatch(_VALUES[key], value, re.IGNORECASE | re.ASCII) is not None
