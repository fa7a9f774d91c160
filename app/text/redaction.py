"""Redact a host's secrets before its text enters a prompt or the log.

The log is hashed and published as evidence, so it cannot be corrected later. targets/readable_files.py decides which
files are shown at all; this is for secrets in unexpected places.
"""

import hashlib
import re
from collections.abc import Iterable

from app.text.command_secret_redaction import redact_commands
from app.text.random_key_detection import redact_keys
from app.text.secret_patterns import BEHIND, GONE, WHOLE
from app.text.setting_secret_redaction import redact_settings

__all__ = ["GONE", "is_secret_path", "redact_secrets"]

_SECRET_PATH = re.compile(
    r"/etc/g?shadow.*"
    r"|/etc/security/opasswd.*"
    r"|.*/ssh_host_[^/]*_key"
    r"|.*/\.ssh/(?!(?:authorized_keys|known_hosts|config)$|[^/]*\.pub$).*"
    r"|.*/\.(?:pgpass|netrc|my\.cnf|git-credentials|htpasswd|vault-token|npmrc|pypirc)"
    r"|.*/\.(?:aws|docker|kube|gnupg|password-store)/.*"
    r"|.*\.(?:key|pem|p12|pfx|jks|keytab|kdbx|ppk|age|gpg|psk|nmconnection|kubeconfig)",
    re.DOTALL,
)


def redact_secrets(text: str, *, from_restricted_file: bool = False) -> str:
    """Return the text without keys, password hashes, passwords and tokens.

    With `from_restricted_file`, the text is from a file that not every account may read, so shorter words count as
    keys. The rest of a secret in a truncated text is removed too.
    """
    known = hashlib.sha256(f"{from_restricted_file:d}{text}".encode(errors="surrogatepass")).digest()
    if known in _UNTOUCHED:
        return text
    left = redact_commands(_replace_patterns(BEHIND, redact_settings(_replace_patterns(WHOLE, text))))
    left = redact_keys(left, from_restricted_file=from_restricted_file)
    if left == text:
        if len(_UNTOUCHED) >= _MOST_KNOWN:
            _UNTOUCHED.clear()
        _UNTOUCHED.add(known)
    return left


_MOST_KNOWN = 8192
_UNTOUCHED: set[bytes] = set()
"""Digests of texts without secrets: a host repeats itself every turn, and each text is searched once."""


def _replace_patterns(replacements: Iterable[tuple[re.Pattern[str], str]], text: str) -> str:
    for form, stays in replacements:
        text = form.sub(stays, text)
    return text


def is_secret_path(path: str) -> bool:
    """Return True for files whose content is never shown."""
    return _SECRET_PATH.fullmatch(path) is not None
