"""Resolve lists of algorithms: `+`, `-`, `^` and patterns against those that sshd was built with."""

from dataclasses import dataclass
from functools import lru_cache

from app.syntax.host_text import split_names
from app.syntax.sshd_match import match_list, matches_pattern


@dataclass(frozen=True)
class BuiltAlgorithms:
    """The algorithms of one kind: all known ones and the default offer, each in sshd's order."""

    known: tuple[str, ...]
    offered: tuple[str, ...]


_CIPHERS = BuiltAlgorithms(
    split_names("""
        3des-cbc aes128-cbc aes192-cbc aes256-cbc aes128-ctr aes192-ctr aes256-ctr aes128-gcm@openssh.com
        aes256-gcm@openssh.com chacha20-poly1305@openssh.com
    """),
    split_names("""
        chacha20-poly1305@openssh.com aes128-ctr aes192-ctr aes256-ctr aes128-gcm@openssh.com aes256-gcm@openssh.com
    """),
)
_MACS = BuiltAlgorithms(
    split_names("""
        hmac-sha1 hmac-sha1-96 hmac-sha2-256 hmac-sha2-512 hmac-md5 hmac-md5-96 umac-64@openssh.com umac-128@openssh.com
        hmac-sha1-etm@openssh.com hmac-sha1-96-etm@openssh.com hmac-sha2-256-etm@openssh.com
        hmac-sha2-512-etm@openssh.com hmac-md5-etm@openssh.com hmac-md5-96-etm@openssh.com umac-64-etm@openssh.com
        umac-128-etm@openssh.com
    """),
    split_names("""
        umac-64-etm@openssh.com umac-128-etm@openssh.com hmac-sha2-256-etm@openssh.com hmac-sha2-512-etm@openssh.com
        hmac-sha1-etm@openssh.com umac-64@openssh.com umac-128@openssh.com hmac-sha2-256 hmac-sha2-512 hmac-sha1
    """),
)
_CURVES = split_names("""
    curve25519-sha256 curve25519-sha256@libssh.org ecdh-sha2-nistp256 ecdh-sha2-nistp384 ecdh-sha2-nistp521
    diffie-hellman-group-exchange-sha256 diffie-hellman-group16-sha512 diffie-hellman-group18-sha512
    diffie-hellman-group14-sha256
""")
_PRIME = split_names("sntrup761x25519-sha512 sntrup761x25519-sha512@openssh.com")
_ALL_KEX = split_names("""
    diffie-hellman-group1-sha1 diffie-hellman-group14-sha1 diffie-hellman-group14-sha256 diffie-hellman-group16-sha512
    diffie-hellman-group18-sha512 diffie-hellman-group-exchange-sha1 diffie-hellman-group-exchange-sha256
    ecdh-sha2-nistp256 ecdh-sha2-nistp384 ecdh-sha2-nistp521 curve25519-sha256 curve25519-sha256@libssh.org
""")
_ALL_KEYS = split_names("""
    ssh-ed25519 ssh-ed25519-cert-v01@openssh.com sk-ssh-ed25519@openssh.com sk-ssh-ed25519-cert-v01@openssh.com
    ecdsa-sha2-nistp256 ecdsa-sha2-nistp256-cert-v01@openssh.com ecdsa-sha2-nistp384
    ecdsa-sha2-nistp384-cert-v01@openssh.com ecdsa-sha2-nistp521 ecdsa-sha2-nistp521-cert-v01@openssh.com
    sk-ecdsa-sha2-nistp256@openssh.com sk-ecdsa-sha2-nistp256-cert-v01@openssh.com
    webauthn-sk-ecdsa-sha2-nistp256@openssh.com ssh-dss ssh-dss-cert-v01@openssh.com ssh-rsa
    ssh-rsa-cert-v01@openssh.com rsa-sha2-256 rsa-sha2-256-cert-v01@openssh.com rsa-sha2-512
    rsa-sha2-512-cert-v01@openssh.com
""")
_KEYS = split_names("""
    ssh-ed25519-cert-v01@openssh.com ecdsa-sha2-nistp256-cert-v01@openssh.com ecdsa-sha2-nistp384-cert-v01@openssh.com
    ecdsa-sha2-nistp521-cert-v01@openssh.com sk-ssh-ed25519-cert-v01@openssh.com
    sk-ecdsa-sha2-nistp256-cert-v01@openssh.com rsa-sha2-512-cert-v01@openssh.com rsa-sha2-256-cert-v01@openssh.com
    ssh-ed25519 ecdsa-sha2-nistp256 ecdsa-sha2-nistp384 ecdsa-sha2-nistp521 sk-ssh-ed25519@openssh.com
    sk-ecdsa-sha2-nistp256@openssh.com rsa-sha2-512 rsa-sha2-256
""")
_RSA_SHA1 = split_names("ssh-rsa-cert-v01@openssh.com ssh-rsa")
_SIGNATURES = BuiltAlgorithms(
    tuple(name for name in _ALL_KEYS if "-cert-" not in name),
    split_names("""
        ssh-ed25519 ecdsa-sha2-nistp256 ecdsa-sha2-nistp384 ecdsa-sha2-nistp521 sk-ssh-ed25519@openssh.com
        sk-ecdsa-sha2-nistp256@openssh.com rsa-sha2-512 rsa-sha2-256
    """),
)


def _build_table(keys: BuiltAlgorithms, kex: BuiltAlgorithms) -> dict[str, BuiltAlgorithms]:
    """Return the table by keyword. Host keys and user keys share one list."""
    by_keys = ("hostkeyalgorithms", "hostbasedacceptedalgorithms", "pubkeyacceptedalgorithms")
    others = {"ciphers": _CIPHERS, "macs": _MACS, "kexalgorithms": kex, "casignaturealgorithms": _SIGNATURES}
    return dict.fromkeys(by_keys, keys) | others


OF_RHEL_9 = _build_table(
    BuiltAlgorithms(_ALL_KEYS, (*_KEYS, *_RSA_SHA1)), BuiltAlgorithms((*_ALL_KEX, _PRIME[1]), _CURVES)
)
OF_DEBIAN_12 = _build_table(
    BuiltAlgorithms(_ALL_KEYS, _KEYS), BuiltAlgorithms((*_ALL_KEX, *_PRIME), (*_PRIME, *_CURVES))
)


@lru_cache(maxsize=256)
def resolve_algorithms(written: str, built: BuiltAlgorithms) -> str | None:
    """Return the offered names in order; None if sshd would reject the list."""
    if written.startswith("-"):
        return ",".join(name for name in built.offered if match_list(written[1:], name) != 1)
    named = written.removeprefix("+").removeprefix("^").split(",")
    if written.startswith("+"):
        named = [*built.offered, *named]
    elif written.startswith("^"):
        named = [*named, *built.offered]
    if any(name.startswith("!") for name in named):
        return None
    return (
        ",".join(dict.fromkeys(name for pattern in named for name in built.known if matches_pattern(pattern, name)))
        or None
    )
