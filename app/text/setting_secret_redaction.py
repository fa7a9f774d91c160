"""Redact settings whose key marks the value as secret: `key = value`, `key: value`, `"key": "value"`."""

import re
from collections.abc import Iterator

from app.text.random_key_detection import is_key
from app.text.secret_patterns import GONE

_AT_ANY_END = (
    "password|passwd|sshpass|passphrase|passcode|secret|psk|bindpw|rootpw|authtok|api[-_]?key|privatekey|presharedkey"
    "|secretkey|accesskey|sharedkey|(?:identity|registry|refresh|session|access|bearer|auth|security|id)token"
)
_AFTER_A_MARK = (
    "pass|pwd|pw|pin|token|cred(?:s|entials?)?|(?:access|private|preshared|pre[-_]shared|secret|auth|signing|encryption"
    "|master|account|shared|client)[-_]?key(?:[-_]?data)?|key[-_]?data|wep[-_]?key[0-9]?"
    "|(?:smtp|mail|proxy|http|basic|redis)[-_.]?auth|_auth"
)
_KEY = re.compile(
    rf"(?<![\w.-])(?:[\w.-]{{0,60}}?(?:{_AT_ANY_END})|(?:[\w.-]{{0,60}}?[-_.])?(?:{_AFTER_A_MARK}))"
    r"[\"']?[ \t]{0,20}(?:=|::?)[ \t]{0,20}(?=[^\s=:])",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"(?:[^\"\\\n]|\\[^\n])*\"?|'(?:[^'\\\n]|\\[^\n])*'?")
_WORD = re.compile(r"\S+")
_REST = re.compile(r"[^\n]+")
_AHEAD = re.compile(r"[-+ ]?[ \t]{0,40}[#;]?[ \t]?(?:export[ \t]{1,9}|set[ \t]{1,9})?[\"']?")
_AHEAD_LONGEST = 64
_AROUND = "\"'`;,) \t\r"
"""Trailing characters that belong to the text around a quoted line."""
_COMMENT = re.compile(r"[-+ ]?[ \t]{0,40}[#;]")
_SUDO_TAG = re.compile(r"(?:NO)?PASSWD[ \t]*:[ \t]*")
_NAME_SERVICE = re.compile(r"(?:files|compat|sss|systemd|ldap|db|nis|nisplus|winbind|altfiles|dns)\b", re.IGNORECASE)
_PATH = re.compile(r"(?:file:/{2})?/[\w./%{}@+-]*")
_PLAIN_FILE = re.compile(
    r"[-+]?[\"'(]?(?:/(?:usr/)?(?:etc|lib|share)(?:/[\w@+-]{1,40}){0,2}/(?:(?:pam|sudoers|sshd?_config|rules|sysctl|modprobe"
    r"|modules-load|tmpfiles|profile|logrotate|rsyslog|limits)\.d|pam-configs|security|skel"
    r"|default|dconf(?:/db)?|systemd|crypto-policies|cron[.a-z]{0,8})(?:/[\w.@+-]{1,80}){1,4}|/etc/g?passwd-?)"
    r"[\"']?[ \t]{0,4}[:=][ \t]{0,4}(?:[0-9]{1,6}[:-])?"
)
"""A file of a format that keeps no secret as its whole content, in front of one of its lines."""
_PAM = re.compile(
    r"-?(?:auth|account|password|session)[ \t]{1,40}(?:[a-z]{7,10}\b|\[)|@include[ \t]"
    r"|\[(?:[a-z_]{2,24}=(?:ignore|bad|die|ok|done|reset|[0-9]{1,2})[ \t]{0,9}){1,32}\]"
    r"|(?:(?:required|requisite|sufficient|optional)[ \t]{1,40})?(?:/[\w/-]{1,64}/)?pam_\w{1,32}\.so\b"
    r"|(?:include|substack)[ \t]{1,40}(?:[a-z]{1,16}-auth|common-[a-z-]{1,32}|postlogin)\b|use_authtok\b"
)
_PASSWD_SAYS = re.compile(
    r"(?:password (?:updated|changed|unchanged|expiry)|all authentication|authentication token)\b", re.IGNORECASE
)
_FILE_AHEAD = re.compile(
    r"[-+]?[\"'(]?/(?:etc|usr|var|run|opt|srv|home|root|boot|tmp)(?:/[\w.@+-]{1,80}){1,12}:[ \t]{1,4}"
)
_PROSE = re.compile(r"[A-Za-z]{2,20} [A-Za-z]{2,20}\b")
_NOTHING = frozenset(
    {"yes", "no", "true", "false", "on", "off", "none", "null", "nil", "ask", "prompt", "default", "required",
     "optional", "requisite", "sufficient", "never", "always", "x", "*", "!", "!!", "{}", "[]", "ignore"}
)  # fmt: skip
_MECHANISMS = frozenset(
    {"login", "plain", "cram-md5", "digest-md5", "ntlm", "xoauth2", "oauth2", "gssapi", "basic", "digest", "bearer",
     "htpasswd", "starttls"}
)  # fmt: skip
"""Ways to sign in, which settings like SMTP_AUTH may name as well."""
_SMALL = re.compile(r"[0-9]{1,2}")


def redact_settings(text: str) -> str:
    return "".join(_iterate_redacted_pieces(text))


def _iterate_redacted_pieces(text: str) -> Iterator[str]:
    done = 0
    for key in _KEY.finditer(text):
        if key.start() < done:
            continue
        value = _read_value(text, key)
        if _is_harmless(key[0], value) or _is_pam_text_following(text, key) or _is_message_about_file(text, key):
            continue
        yield text[done : key.end()]
        yield GONE
        done = key.end() + len(value)
    yield text[done:]


def _read_value(text: str, key_match: re.Match[str]) -> str:
    """Return the value: quoted, the rest of the line if the key is first, or the next word; empty in comments."""
    begin = text.rfind("\n", 0, key_match.start()) + 1
    alone = key_match.start() - begin < _AHEAD_LONGEST and _AHEAD.fullmatch(text, begin, key_match.start())
    if not alone and _COMMENT.match(text, begin):
        return ""
    found = _QUOTED.match(text, key_match.end()) or (_REST if alone else _WORD).match(text, key_match.end())
    return found[0].rstrip(_AROUND) if found else ""


def _is_pam_text_following(text: str, key_match: re.Match[str]) -> bool:
    """Return True if a line of PAM or a message of passwd follows: both use the word password for what is no secret."""
    begin = key_match.end() + (text[key_match.end() : key_match.end() + 1] in "\"'")
    return bool(_PAM.match(text, begin) or (key_match[0].startswith("passwd:") and _PASSWD_SAYS.match(text, begin)))


def _is_message_about_file(text: str, key_match: re.Match[str]) -> bool:
    """Return True for `/etc/x/zz-password: words of a message`, and for any line of a file of a known format.

    Elsewhere a name that is no file of the system is a setting.
    """
    begin = max(text.rfind(space, max(0, key_match.start() - 400), key_match.start()) for space in " \t\n") + 1
    if _PLAIN_FILE.fullmatch(text, begin, key_match.end()):
        return True
    return bool(_FILE_AHEAD.fullmatch(text, begin, key_match.end()) and _PROSE.match(text, key_match.end()))


def _is_harmless(key: str, value: str) -> bool:
    bare = value.strip(" \t\r\"',;")
    if not bare or bare.lower() in _NOTHING or _SMALL.fullmatch(bare) or bare.startswith(GONE):
        return True
    if _SUDO_TAG.fullmatch(key) or ("auth" in key.lower() and bare.lower() in _MECHANISMS):
        return True
    if key.rstrip(" \t").endswith(":") and _NAME_SERVICE.match(bare):
        return True
    return bool(_PATH.fullmatch(bare)) and not is_key(bare)
