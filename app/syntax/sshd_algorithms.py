"""Resolve lists of algorithms: `+`, `-`, `^` and patterns against those that sshd was built with."""

from dataclasses import dataclass
from functools import lru_cache

from app.syntax.sshd_match import like, listed


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


@dataclass(frozen=True)
class Built:
    """The algorithms of one kind: all known ones and the default offer, each in sshd's order."""

    known: tuple[str, ...]
    offered: tuple[str, ...]


_CIPHERS = Built(
    _names("""
        3des-cbc aes128-cbc aes192-cbc aes256-cbc aes128-ctr aes192-ctr aes256-ctr aes128-gcm@openssh.com
        aes256-gcm@openssh.com chacha20-poly1305@openssh.com
    """),
    _names("""
        chacha20-poly1305@openssh.com aes128-ctr aes192-ctr aes256-ctr aes128-gcm@openssh.com aes256-gcm@openssh.com
    """),
)
_MACS = Built(
    _names("""
        hmac-sha1 hmac-sha1-96 hmac-sha2-256 hmac-sha2-512 hmac-md5 hmac-md5-96 umac-64@openssh.com umac-128@openssh.com
        hmac-sha1-etm@openssh.com hmac-sha1-96-etm@openssh.com hmac-sha2-256-etm@openssh.com
        hmac-sha2-512-etm@openssh.com hmac-md5-etm@openssh.com hmac-md5-96-etm@openssh.com umac-64-etm@openssh.com
        umac-128-etm@openssh.com
    """),
    _names("""
        umac-64-etm@openssh.com umac-128-etm@openssh.com hmac-sha2-256-etm@openssh.com hmac-sha2-512-etm@openssh.com
        hmac-sha1-etm@openssh.com umac-64@openssh.com umac-128@openssh.com hmac-sha2-256 hmac-sha2-512 hmac-sha1
    """),
)
_CURVES = _names("""
    curve25519-sha256 curve25519-sha256@libssh.org ecdh-sha2-nistp256 ecdh-sha2-nistp384 ecdh-sha2-nistp521
    diffie-hellman-group-exchange-sha256 diffie-hellman-group16-sha512 diffie-hellman-group18-sha512
    diffie-hellman-group14-sha256
""")
_PRIME = _names("sntrup761x25519-sha512 sntrup761x25519-sha512@openssh.com")
_ALL_KEX = _names("""
    diffie-hellman-group1-sha1 diffie-hellman-group14-sha1 diffie-hellman-group14-sha256 diffie-hellman-group16-sha512
    diffie-hellman-group18-sha512 diffie-hellman-group-exchange-sha1 diffie-hellman-group-exchange-sha256
    ecdh-sha2-nistp256 ecdh-sha2-nistp384 ecdh-sha2-nistp521 curve25519-sha256 curve25519-sha256@libssh.org
""")
_ALL_KEYS = _names("""
    ssh-ed25519 ssh-ed25519-cert-v01@openssh.com sk-ssh-ed25519@openssh.com sk-ssh-ed25519-cert-v01@openssh.com
    ecdsa-sha2-nistp256 ecdsa-sha2-nistp256-cert-v01@openssh.com ecdsa-sha2-nistp384
    ecdsa-sha2-nistp384-cert-v01@openssh.com ecdsa-sha2-nistp521 ecdsa-sha2-nistp521-cert-v01@openssh.com
    sk-ecdsa-sha2-nistp256@openssh.com sk-ecdsa-sha2-nistp256-cert-v01@openssh.com
    webauthn-sk-ecdsa-sha2-nistp256@openssh.com ssh-dss ssh-dss-cert-v01@openssh.com ssh-rsa
    ssh-rsa-cert-v01@openssh.com rsa-sha2-256 rsa-sha2-256-cert-v01@openssh.com rsa-sha2-512
    rsa-sha2-512-cert-v01@openssh.com
""")
_KEYS = _names("""
    ssh-ed25519-cert-v01@openssh.com ecdsa-sha2-nistp256-cert-v01@openssh.com ecdsa-sha2-nistp384-cert-v01@openssh.com
    ecdsa-sha2-nistp521-cert-v01@openssh.com sk-ssh-ed25519-cert-v01@openssh.com
    sk-ecdsa-sha2-nistp256-cert-v01@openssh.com rsa-sha2-512-cert-v01@openssh.com rsa-sha2-256-cert-v01@openssh.com
    ssh-ed25519 ecdsa-sha2-nistp256 ecdsa-sha2-nistp384 ecdsa-sha2-nistp521 sk-ssh-ed25519@openssh.com
    sk-ecdsa-sha2-nistp256@openssh.com rsa-sha2-512 rsa-sha2-256
""")
_RSA_SHA1 = _names("ssh-rsa-cert-v01@openssh.com ssh-rsa")
_SIGNATURES = Built(
    tuple(name for name in _ALL_KEYS if "-cert-" not in name),
    _names("""
        ssh-ed25519 ecdsa-sha2-nistp256 ecdsa-sha2-nistp384 ecdsa-sha2-nistp521 sk-ssh-ed25519@openssh.com
        sk-ecdsa-sha2-nistp256@openssh.com rsa-sha2-512 rsa-sha2-256
    """),
)


def _built(keys: Built, kex: Built) -> dict[str, Built]:
    """Return the table by keyword. Host keys and user keys share one list."""
    by_keys = ("hostkeyalgorithms", "hostbasedacceptedalgorithms", "pubkeyacceptedalgorithms")
    others = {"ciphers": _CIPHERS, "macs": _MACS, "kexalgorithms": kex, "casignaturealgorithms": _SIGNATURES}
    return dict.fromkeys(by_keys, keys) | others


OF_RHEL_9 = _built(Built(_ALL_KEYS, (*_KEYS, *_RSA_SHA1)), Built((*_ALL_KEX, _PRIME[1]), _CURVES))
OF_DEBIAN_12 = _built(Built(_ALL_KEYS, _KEYS), Built((*_ALL_KEX, *_PRIME), (*_PRIME, *_CURVES)))


@lru_cache(maxsize=256)
def resolved(written: str, built: Built) -> str | None:
    """Return the offered names in order; None if sshd would reject the list."""
    if written.startswith("-"):
        return ",".join(name for name in built.offered if listed(written[1:], name) != 1)
    named = written.removeprefix("+").removeprefix("^").split(",")
    if written.startswith("+"):
        named = [*built.offered, *named]
    elif written.startswith("^"):
        named = [*named, *built.offered]
    if any(name.startswith("!") for name in named):
        return None
    return ",".join(dict.fromkeys(name for pattern in named for name in built.known if like(pattern, name))) or None
