"""What PAM modules return for rightful users and for intruders."""

from collections.abc import Callable, Mapping

from app.syntax.host_text import split_blank_separated_names
from app.syntax.pam import PamRule
from app.targets.effects.effective_pam_options import accepts_empty_password
from app.targets.pam_outcome import SUCCESS, Answer

_PASSWORD, _ELSEWHERE, _ROOT = "the right password", "the right password of a directory", "root with the right password"
_WRONG, _NONE, _LOCKED = "a wrong password", "an account without a password", "a locked account"
_ACCOUNT, _EXPIRED = "an account in order", "an expired account"
GOOD_CHOICE = "a good new password"
_WEAK, _OLD, _STRANGER = "a weak one", "a used one", "somebody without the old one"
_SESSION = "everybody who signed in"
RIGHTFUL: Mapping[str, tuple[str, ...]] = {
    "auth": (_PASSWORD, _ELSEWHERE, _ROOT),
    "account": (_ACCOUNT,),
    "password": (GOOD_CHOICE,),
    "session": (_SESSION,),
}
INTRUDERS: Mapping[str, tuple[str, ...]] = {
    "auth": (_WRONG, _NONE, _LOCKED),
    "account": (_EXPIRED,),
    "password": (_WEAK, _OLD, _STRANGER),
    "session": (),
}
_DIRECTORIES = ("pam_sss.so", "pam_ldap.so", "pam_krb5.so", "pam_winbind.so")
_CONTENT = split_blank_separated_names("""
    pam_permit.so pam_env.so pam_nologin.so pam_group.so pam_lastlog.so pam_limits.so pam_loginuid.so
    pam_umask.so pam_keyinit.so pam_motd.so pam_mail.so pam_issue.so pam_warn.so pam_echo.so pam_systemd.so
    pam_tty_audit.so
""")
_LEFT_OUT = ("pam_faildelay.so", "pam_cap.so")
_DENIES = {"auth": "auth_err", "account": "auth_err", "password": "authtok_err", "session": "session_err"}
_UNIX = {_WRONG: "auth_err", _ELSEWHERE: "user_unknown", _EXPIRED: "acct_expired", _STRANGER: "auth_err"}


def create_module_responder(user_case: str, kind: str, *, unknown_modules_accept: bool) -> Answer:
    """Return the answers of modules for a walk through a stack; `unknown_modules_accept` says what unknown ones do."""
    unknown = SUCCESS if unknown_modules_accept else _DENIES[kind]
    return lambda rule: _answer_known_module(rule, user_case, kind) or unknown


def _answer_known_module(rule: PamRule, user_case: str, kind: str) -> str:
    if rule.module in _CONTENT:
        return SUCCESS
    if rule.module in _LEFT_OUT:
        return "ignore"
    if rule.module == "pam_deny.so":
        return _DENIES[kind]
    if rule.module in _DIRECTORIES:
        return _answer_as_directory_service(user_case, kind)
    special = _SPECIAL.get(rule.module)
    return special(rule, user_case, kind) if special else ""


def _answer_as_directory_service(user_case: str, kind: str) -> str:
    if kind == "auth":
        return SUCCESS if user_case == _ELSEWHERE else "auth_err" if user_case == _WRONG else "user_unknown"
    return "user_unknown" if kind in ("account", "password") else SUCCESS


def _answer_unix(rule: PamRule, user_case: str, kind: str) -> str:
    if user_case == _NONE:
        return SUCCESS if accepts_empty_password(rule) else "auth_err"
    if user_case == _WEAK and kind == "password":
        return SUCCESS
    return _UNIX.get(user_case, SUCCESS)


def _answer_faillock(rule: PamRule, user_case: str, kind: str) -> str:
    if kind == "auth" and "authfail" in rule.arguments:
        return "auth_err"
    return "auth_err" if user_case == _LOCKED and "preauth" in rule.arguments else SUCCESS


def _answer_wheel(rule: PamRule, _user_case: str, _kind: str) -> str:
    """Answer for a member of wheel: who is meant to use su is one."""
    return "perm_denied" if "deny" in rule.arguments else SUCCESS if "trust" in rule.arguments else "ignore"


_SPECIAL: Mapping[str, Callable[[PamRule, str, str], str]] = {
    "pam_unix.so": _answer_unix,
    "pam_faillock.so": _answer_faillock,
    "pam_rootok.so": lambda _rule, who, _kind: SUCCESS if who == _ROOT else "auth_err",
    "pam_localuser.so": lambda _rule, who, _kind: "perm_denied" if who == _ELSEWHERE else SUCCESS,
    "pam_wheel.so": _answer_wheel,
    "pam_pwquality.so": lambda _rule, who, _kind: "authtok_err" if who == _WEAK else SUCCESS,
    "pam_pwhistory.so": lambda _rule, who, _kind: "authtok_err" if who == _OLD else SUCCESS,
}
