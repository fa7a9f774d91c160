"""Compares sudo Defaults. Built-in values differ between distributions."""

from app.syntax.host_text import split_blank_separated_names
from app.targets.account_sudo_rights import BUILT_IN, OFF, ON
from app.targets.effects import strictness_comparison as strictness
from app.targets.effects.strictness_comparison import Strength

_ON_IS_STRICT = split_blank_separated_names("""
    authenticate always_set_home env_reset ignore_dot intercept intercept_verify log_allowed log_denied
    log_exit_status log_host log_input log_output log_server_verify log_stdin log_stdout log_stderr
    log_subcmds log_ttyin log_ttyout log_year mail_all_cmnds mail_always mail_badpass mail_no_host
    mail_no_perms mail_no_user noexec pam_acct_mgmt pam_session pam_setcred requiretty runas_check_shell
    selinux set_home sudoedit_checkdir tty_tickets use_loginuid use_pty iolog_flush
""")
_OFF_IS_STRICT = split_blank_separated_names("""
    case_insensitive_group case_insensitive_user closefrom_override env_editor fast_glob ignore_audit_errors
    ignore_iolog_errors ignore_logfile_errors intercept_allow_setid log_passwords preserve_groups pwfeedback
    root_sudo runas_allow_unknown_id setenv shell_noargs stay_setuid sudoedit_follow umask_override
    user_command_timeouts visiblepw rlimit_core
""")
_BUILT_IN_ON = split_blank_separated_names("""
    authenticate case_insensitive_group case_insensitive_user env_reset fast_glob ignore_audit_errors
    ignore_logfile_errors intercept_verify log_allowed log_denied log_server_verify mail_no_user
    pam_acct_mgmt pam_session pam_setcred root_sudo selinux sudoedit_checkdir tty_tickets
""")
_EITHER = split_blank_separated_names("env_editor fast_glob fqdn ignore_dot requiretty use_pty always_set_home")
"""Built-in values differ; a change is compared with the stricter one."""
_UMASK = "0022"
_FOREVER = 10.0**9
_SPANS = {"timestamp_timeout": (5.0, 15.0), "passwd_timeout": (5.0, 0.0)}
"""Strictest and laxest built-in value of any distribution, in minutes. No minutes for a password mean no limit."""
_WORDS = {
    "timestamp_type": (("global", "kernel", "ppid", "tty"), "tty"),
    "verifypw": (("never", "any", "all", "always"), "all"),
    "listpw": (("never", "any", "all", "always"), "any"),
}


def compare_sudo_option(name: str, was: str, now: str) -> Strength:
    """Compare two values of an option; an empty value means the built-in one."""
    if was == now:
        return Strength.EQUAL
    if name == "umask":
        return strictness.compare_masks(was or _UMASK, now or _UMASK)
    old, new = (_measure_strictness(name, was, before=True), _measure_strictness(name, now, before=False))
    if old is not None and new is not None:
        return strictness.compare_higher_as_stricter(old, new)
    return _compare_variable_lists(name, was or BUILT_IN, now or BUILT_IN)


def _measure_strictness(name: str, value: str, *, before: bool) -> float | None:
    if name in (*_ON_IS_STRICT, *_OFF_IS_STRICT):
        return _measure_flag_strictness(name, value, is_before_side=before)
    if name == "passwd_tries":
        tries = _parse_float(value or "3")
        return -tries if tries and tries >= 1 else None
    if name in _SPANS:
        return _measure_timeout_strictness(name, value, is_before_side=before)
    if name in _WORDS:
        words, built_in = _WORDS[name]
        return words.index(value or built_in) if (value or built_in) in words else None
    return None


def _measure_flag_strictness(name: str, value: str, *, is_before_side: bool) -> float | None:
    strict = ON if name in _ON_IS_STRICT else OFF
    if not value:
        built_in = ON if name in _BUILT_IN_ON else OFF
        value = (strict if is_before_side else OFF if strict == ON else ON) if name in _EITHER else built_in
    return float(value == strict) if value in (ON, OFF) else None


def _measure_timeout_strictness(name: str, value: str, *, is_before_side: bool) -> float | None:
    strictest, laxest = _SPANS[name]
    if not value:
        minutes: float | None = strictest if is_before_side else laxest
    else:
        minutes = 0.0 if value == OFF else _parse_float(value)
    if minutes is None:
        return None
    without_end = minutes < 0 or (name == "passwd_timeout" and minutes == 0)
    return -_FOREVER if without_end else -minutes


def _parse_float(value: str) -> float | None:
    try:
        found = float(value) if value.isascii() and len(value) < 12 else None
    except ValueError:
        return None
    return found if found is not None and abs(found) < _FOREVER else None


def _compare_variable_lists(name: str, was: str, now: str) -> Strength:
    """Compare lists of variables; a minus removes a built-in one."""
    old, new = (set() if value == OFF else set(value.split()) for value in (was, now))
    old_minus, new_minus = ({one for one in names if one.startswith("-")} for names in (old, new))
    kept = strictness.compare_allowed_sets(old - old_minus, new - new_minus)
    less = strictness.compare_allowed_sets(new_minus, old_minus)
    agree = kept == less or Strength.EQUAL in (kept, less)
    if name in ("env_keep", "env_check") and Strength.INCOMPARABLE not in (kept, less) and agree:
        return less if kept is Strength.EQUAL else kept
    if name == "env_delete" and less is Strength.EQUAL and kept in (Strength.WEAKER, Strength.STRONGER):
        return Strength.STRONGER if kept is Strength.WEAKER else Strength.WEAKER
    return strictness.compare_unranked(was, now)
