"""What a client has to prove to log in over SSH. Several settings decide it together, so no one of them ranks alone.

UsePAM lets keyboard-interactive ask for a password, whatever PasswordAuthentication says.
"""

from collections.abc import Iterator, Mapping

from app.targets.effects.strictness_comparison import Strength

ANYBODY, ROOT = "what a login has to prove", "what a login of root has to prove"
LOGINS = (ANYBODY, ROOT)
NOBODY = "nothing helps"
_OR, _AND, _AGAIN = " or ", " and ", " once more"
_KEY, _PASSWORD = "a key", "a password"
_PROOFS = {
    "publickey": ("pubkeyauthentication", _KEY),
    "hostbased": ("hostbasedauthentication", "the client's host"),
    "gssapi-with-mic": ("gssapiauthentication", "a ticket"),
    "gssapi-keyex": ("gssapikeyexchange", "a ticket"),
    "password": ("passwordauthentication", _PASSWORD),
    "keyboard-interactive": ("kbdinteractiveauthentication", _PASSWORD),
}
"""The setting that switches a method on, and what the client proves by it."""
_ROOT_MAY = {
    "yes": tuple(_PROOFS),
    "without-password": ("publickey", "hostbased", "gssapi-with-mic", "gssapi-keyex"),
    "forced-commands-only": ("publickey",),
}


def derive_login_requirements(settings: Mapping[str, str], user: str) -> dict[str, str]:
    """Return the ways to log in with these settings of a connection. An empty user is anybody, root too."""
    methods = [
        name
        for name, (setting, _) in _PROOFS.items()
        if settings.get(setting, "no") == "yes" and (name != "keyboard-interactive" or settings.get("usepam") == "yes")
    ]
    ours = [name for name in methods if name in _ROOT_MAY.get(settings.get("permitrootlogin", ""), ())]
    found = {ANYBODY: methods} if user != "root" else {}
    found |= {ROOT: ours} if user in ("", "root") else {}
    asked = settings.get("authenticationmethods", "any")
    return {key: _OR.join(sorted(set(_iterate_login_ways(asked, names)))) or NOBODY for key, names in found.items()}


def compare_logins(was: str, now: str) -> Strength:
    """Compare the ways: each must ask for all that some earlier one asked for.

    A key is no less than a password. Where no way had a key, PubkeyAuthentication itself is compared.
    """
    if was == now:
        return Strength.EQUAL
    old, new = ([set(way.split(_AND)) for way in value.split(_OR) if way != NOBODY] for value in (was, now))
    keyless = not any(_KEY in before for before in old)
    safe = all((keyless and _KEY in way) or any(_is_new_way_as_strict(before, way) for before in old) for way in new)
    return Strength.STRONGER if safe else Strength.WEAKER


def _is_new_way_as_strict(earlier_way: set[str], new_way: set[str]) -> bool:
    return earlier_way <= new_way or (earlier_way == {_PASSWORD} and _KEY in new_way)


def _iterate_login_ways(authentication_methods: str, enabled_methods: list[str]) -> Iterator[str]:
    """Yield each way: one method of any, or every method of a list of AuthenticationMethods."""
    lists = (
        [[name] for name in enabled_methods]
        if authentication_methods in ("any", "")
        else [one.split(",") for one in authentication_methods.split()]
    )
    for names in ([name.partition(":")[0] for name in one] for one in lists):
        if all(name in enabled_methods for name in names):
            proofs: list[str] = []
            for name in names:
                proof = _PROOFS[name][1]
                proofs.append(proof + _AGAIN * proofs.count(proof))
            yield _AND.join(sorted(proofs))
