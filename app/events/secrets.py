"""What a host keeps secret stays on the host: it is taken out where host text enters a prompt or the log.

The log cannot be mended afterwards: its lines are hashed as they are, and go to whoever asks for evidence.
"""

import re

GONE = "[secret]"
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)", re.DOTALL
)
_CRYPT = re.compile(r"\$(?:[1567y]|2[abxy]?|gy|md5|sha1|argon2\w*|scrypt)\$[^\s:;,'\"]+")
_SHADOW_LINE = re.compile(r"^([-+ ]?[\w.-]+:!*)[^:\s*!]{2,}(?=(?::\d*){6}:)", re.MULTILINE)
_SETTING = re.compile(
    r"^([^\n=#;]{0,80}?(?:password|passwd|passphrase|secret|token|api_?key)[ \t]*=[ \t]*)\S[^\n]*$",
    re.MULTILINE | re.IGNORECASE,
)
_IN_ADDRESS = re.compile(r"(?<=://)([^/\s:@]{1,200}):[^/\s@]{1,200}(?=@)")
_SECRET_PATH = re.compile(
    r"/etc/g?shadow.*"
    r"|/etc/security/opasswd.*"
    r"|.*/ssh_host_[^/]*_key"
    r"|.*/\.ssh/(?!(?:authorized_keys|known_hosts|config)$|[^/]*\.pub$).*"
    r"|.*\.(?:key|pem|p12|pfx|jks|keytab)",
    re.DOTALL,
)


def redacted(text: str) -> str:
    """Without private keys, password hashes, passwords in settings and in addresses; also where the text is cut off."""
    text = _PRIVATE_KEY.sub(GONE, text)
    text = _CRYPT.sub(GONE, text)
    text = _SHADOW_LINE.sub(rf"\1{GONE}", text)
    text = _SETTING.sub(rf"\1{GONE}", text)
    return _IN_ADDRESS.sub(rf"\1:{GONE}", text)


def keeps_secrets(path: str) -> bool:
    """A file whose content is shown to nobody."""
    return _SECRET_PATH.fullmatch(path) is not None
