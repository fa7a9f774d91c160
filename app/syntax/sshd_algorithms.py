"""Resolve lists of algorithms: `+`, `-`, `^` and patterns against those that sshd was built with."""

from dataclasses import dataclass
from functools import lru_cache

from app.syntax.sshd_builtin_tables import get_names_listed_in_entry
from app.syntax.sshd_match import get_pattern_match_sign, matches_single_pattern


@dataclass(frozen=True)
class BuiltAlgorithms:
    """The algorithms of one kind: all known ones and the default offer, each in sshd's order."""

    known: tuple[str, ...]
    offered: tuple[str, ...]


_KEYS, _OFFERED_KEYS, _KEX, _OFFERED_KEX, _PRIME_KEX = (
    get_names_listed_in_entry("algorithms", name)
    for name in ("keys", "offered_keys", "kex", "offered_kex", "kex_prime")
)
_CIPHERS, _MACS = (
    BuiltAlgorithms(
        get_names_listed_in_entry("algorithms", kind), get_names_listed_in_entry("algorithms", f"offered_{kind}")
    )
    for kind in ("ciphers", "macs")
)
_SIGNATURES = BuiltAlgorithms(
    tuple(name for name in _KEYS if "-cert-" not in name), get_names_listed_in_entry("algorithms", "offered_signatures")
)


def _build_table(keys: BuiltAlgorithms, kex: BuiltAlgorithms) -> dict[str, BuiltAlgorithms]:
    """Return the table by keyword. Host keys and user keys share one list."""
    by_keys = ("hostkeyalgorithms", "hostbasedacceptedalgorithms", "pubkeyacceptedalgorithms")
    others = {"ciphers": _CIPHERS, "macs": _MACS, "kexalgorithms": kex, "casignaturealgorithms": _SIGNATURES}
    return dict.fromkeys(by_keys, keys) | others


OF_RHEL_9 = _build_table(
    BuiltAlgorithms(_KEYS, (*_OFFERED_KEYS, *get_names_listed_in_entry("algorithms", "keys_rsa_sha1"))),
    BuiltAlgorithms((*_KEX, _PRIME_KEX[1]), _OFFERED_KEX),
)
OF_DEBIAN_12 = _build_table(
    BuiltAlgorithms(_KEYS, _OFFERED_KEYS), BuiltAlgorithms((*_KEX, *_PRIME_KEX), (*_PRIME_KEX, *_OFFERED_KEX))
)


@lru_cache(maxsize=256)
def resolve_algorithms(written: str, built: BuiltAlgorithms) -> str | None:
    """Return the offered names in order; None if sshd would reject the list."""
    if written.startswith("-"):
        return ",".join(name for name in built.offered if get_pattern_match_sign(written[1:], name) != 1)
    named = written.removeprefix("+").removeprefix("^").split(",")
    if written.startswith("+"):
        named = [*built.offered, *named]
    elif written.startswith("^"):
        named = [*named, *built.offered]
    if any(name.startswith("!") for name in named):
        return None
    return (
        ",".join(
            dict.fromkeys(name for pattern in named for name in built.known if matches_single_pattern(pattern, name))
        )
        or None
    )
