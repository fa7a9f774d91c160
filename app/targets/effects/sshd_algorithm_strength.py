"""Compares algorithm lists by the weakest choice that a client could force.

An algorithm adds no risk beside one that is no stronger: an attacker could have chosen that one.
"""

from app.targets.effects.strictness_comparison import Strength, compare_unranked

_RISING = tuple(
    tuple(line.split())
    for line in """
    3des-cbc aes128-cbc aes192-cbc aes256-cbc
    aes128-cbc aes128-ctr aes192-ctr aes256-ctr
    aes192-cbc aes192-ctr
    aes256-cbc aes256-ctr
    aes128-gcm@openssh.com aes256-gcm@openssh.com
    hmac-md5-96 hmac-md5 hmac-sha1 hmac-sha2-256 hmac-sha2-512
    hmac-md5-96 hmac-sha1-96 hmac-sha1
    hmac-md5-96-etm@openssh.com hmac-md5-etm@openssh.com hmac-sha1-etm@openssh.com hmac-sha2-256-etm@openssh.com
    hmac-sha2-256-etm@openssh.com hmac-sha2-512-etm@openssh.com
    hmac-md5-96-etm@openssh.com hmac-sha1-96-etm@openssh.com hmac-sha1-etm@openssh.com
    hmac-md5-96 hmac-md5-96-etm@openssh.com
    hmac-md5 hmac-md5-etm@openssh.com
    hmac-sha1-96 hmac-sha1-96-etm@openssh.com
    hmac-sha1 hmac-sha1-etm@openssh.com
    hmac-sha2-256 hmac-sha2-256-etm@openssh.com
    hmac-sha2-512 hmac-sha2-512-etm@openssh.com
    umac-64@openssh.com umac-128@openssh.com umac-128-etm@openssh.com
    umac-64@openssh.com umac-64-etm@openssh.com umac-128-etm@openssh.com
    diffie-hellman-group1-sha1 diffie-hellman-group14-sha1 diffie-hellman-group14-sha256 diffie-hellman-group16-sha512
    diffie-hellman-group16-sha512 diffie-hellman-group18-sha512
    diffie-hellman-group-exchange-sha1 diffie-hellman-group-exchange-sha256
    ecdh-sha2-nistp256 ecdh-sha2-nistp384 ecdh-sha2-nistp521
    curve25519-sha256 curve25519-sha256@libssh.org sntrup761x25519-sha512 sntrup761x25519-sha512@openssh.com
    sntrup761x25519-sha512@openssh.com sntrup761x25519-sha512
    curve25519-sha256@libssh.org curve25519-sha256
    ssh-dss ssh-rsa rsa-sha2-256 rsa-sha2-512
    ssh-dss-cert-v01@openssh.com ssh-rsa-cert-v01@openssh.com rsa-sha2-256-cert-v01@openssh.com
    rsa-sha2-256-cert-v01@openssh.com rsa-sha2-512-cert-v01@openssh.com
    ecdsa-sha2-nistp256 ecdsa-sha2-nistp384 ecdsa-sha2-nistp521
    gss-group1-sha1- gss-group14-sha1- gss-group14-sha256- gss-group16-sha512-
    """.strip().split("\n")
)
"""Each line is ordered from weaker to stronger."""


def compare_algorithms(was: str, now: str) -> Strength:
    """Compare two lists. The client sets the order; an empty list is an error and not a short list."""
    if not was or not now or was == now:
        return compare_unranked(was, now)
    old, new = was.split(","), now.split(",")
    fine, gained = _is_no_weaker(old, new), not _is_no_weaker(new, old)
    if fine:
        return Strength.STRONGER if gained else Strength.EQUAL
    return Strength.INCOMPARABLE if gained else Strength.WEAKER


def _is_no_weaker(old: list[str], new: list[str]) -> bool:
    return all(_list_equal_or_weaker(name) & {*old} for name in new)


def _list_equal_or_weaker(algorithm: str) -> set[str]:
    found, waiting = {algorithm}, [algorithm]
    while waiting:
        one = waiting.pop()
        below = {rising[at - 1] for rising in _RISING for at, other in enumerate(rising) if at and other == one}
        waiting += below - found
        found |= below
    return found
