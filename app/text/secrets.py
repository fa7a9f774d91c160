"""What a host keeps secret stays on the host: it is taken out where host text enters a prompt or the log.

The log cannot be mended afterwards: its lines are hashed as they are, and go to whoever asks for evidence. Which files
are told at all is decided elsewhere (targets/readable.py); this is for what stands where nobody expects it.
"""

import hashlib
import re
from collections.abc import Iterable

from app.text.entropy import without_keys
from app.text.secret_forms import BEHIND, WHOLE
from app.text.secret_settings import without_settings
from app.text.withheld import GONE

__all__ = ["GONE", "keeps_secrets", "redacted"]

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


def redacted(text: str, *, closed: bool = False) -> str:
    """Without keys, password hashes, passwords and tokens, in the forms that programs keep them in.

    `closed`: it comes from a file that not everybody on the host may read, so a shorter word counts as a key.
    Where a text is cut off, what is left of a secret is taken out as well.
    """
    known = hashlib.sha256(f"{closed:d}{text}".encode(errors="surrogatepass")).digest()
    if known in _UNTOUCHED:
        return text
    left = without_keys(_without(BEHIND, without_settings(_without(WHOLE, text))), closed=closed)
    if left == text:
        if len(_UNTOUCHED) >= _MOST_KNOWN:
            _UNTOUCHED.clear()
        _UNTOUCHED.add(known)
    return left


_MOST_KNOWN = 8192
_UNTOUCHED: set[bytes] = set()
"""Texts that have nothing to take out, by their digests: a host says the same at every turn, and is searched once."""


def _without(forms: Iterable[tuple[re.Pattern[str], str]], text: str) -> str:
    for form, stays in forms:
        text = form.sub(stays, text)
    return text


def keeps_secrets(path: str) -> bool:
    """A file whose content is shown to nobody."""
    return _SECRET_PATH.fullmatch(path) is not None
