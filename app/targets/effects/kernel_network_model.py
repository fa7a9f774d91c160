"""The kernel's network settings while assignments are written in order, with the settings that one write changes.

As in the kernel's devinet.c and addrconf.c. A test writes the same into a network namespace and compares.
"""

from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase

from app.syntax.sysctl import LoadedSysctls, normalize_number, swap_dots_and_slashes

ALL, DEFAULT = "all", "default"
PRESENT, LATER = "interfaces that exist", "interfaces that are added"
_ALIAS = {"net.ipv4.ip_forward": ("ipv4", ALL, "forwarding")}
_KERNEL = {
    ("ipv4", "accept_redirects"): ("1", "1"),
    ("ipv4", "secure_redirects"): ("1", "1"),
    ("ipv4", "send_redirects"): ("1", "1"),
    ("ipv4", "accept_source_route"): ("0", "1"),
    ("ipv4", "forwarding"): ("0", "0"),
    ("ipv4", "rp_filter"): ("0", "0"),
    ("ipv4", "log_martians"): ("0", "0"),
    ("ipv6", "accept_redirects"): ("1", "1"),
    ("ipv6", "accept_source_route"): ("0", "0"),
    ("ipv6", "accept_ra"): ("1", "1"),
    ("ipv6", "forwarding"): ("0", "0"),
    ("ipv6", "disable_ipv6"): ("0", "0"),
}
"""The values of `all` and `default` at the start; an interface begins with those of `default`."""
_BOTH = {"secure_redirects": any, "send_redirects": any, "log_martians": any, "accept_source_route": all}
"""How IPv4 joins the value of `all` with the interface's."""

_FOR_ALL = ("forwarding", "disable_ipv6")
"""A write to `all` writes `default` and every interface; in IPv4 only if it changes the value."""

Place = tuple[str, str, str]
"""Family, `all`, `default` or an interface, and setting."""


class KernelNetwork:
    """The settings in force. `interfaces` are those that files name; one more stands for every other."""

    def __init__(self, interfaces: Collection[str] = ()) -> None:
        self.interfaces = (PRESENT, *sorted(interfaces))
        self.values: dict[Place, str] = {}
        self._own: set[Place] = set()
        """Written for the interface itself: a new default does not reach these."""
        for (family, setting), (of_all, default) in _KERNEL.items():
            self.values |= {(family, ALL, setting): of_all, (family, DEFAULT, setting): default}
            self.values |= {(family, name, setting): default for name in self.interfaces}

    def copy(self) -> "KernelNetwork":
        made = KernelNetwork(self.interfaces[1:])
        made.values, made._own = dict(self.values), set(self._own)
        return made

    def write(self, key: str, value: str, keys_not_to_write: Collection[str] = ()) -> None:
        """Write one setting, or each that a pattern matches, but the spared ones. Unknown settings are ignored."""
        for place in self.find_places(key):
            family, conf, setting = place
            if f"net.{family}.conf.{conf}.{setting}" not in keys_not_to_write:
                self._write_place(place, value)

    def find_places(self, key: str) -> list[Place]:
        if key in _ALIAS:
            return [_ALIAS[key]]
        parts = swap_dots_and_slashes(key).split("/")
        if len(parts) != 5 or parts[0] != "net" or parts[2] != "conf":
            return []
        family, conf, setting = parts[1], parts[3], parts[4]
        return [
            place
            for place in self.values
            if place[0] == family and fnmatchcase(place[2], setting) and fnmatchcase(place[1], conf)
        ]

    def _write_place(self, place: Place, value: str) -> None:
        family, conf, setting = place
        value = normalize_number(value)
        was, self.values[place] = self.values[place], value
        if conf not in (ALL, DEFAULT):
            self._own.add(place)
        elif family == "ipv4" and conf == DEFAULT and setting != "forwarding":
            for name in self.interfaces:
                if (family, name, setting) not in self._own:
                    self.values[family, name, setting] = value
        elif conf == ALL and setting in _FOR_ALL and (family == "ipv6" or _is_on(was) != _is_on(value)):
            for name in (DEFAULT, *self.interfaces):
                self.values[family, name, setting] = value
            if place == ("ipv4", ALL, "forwarding"):
                self.values["ipv4", ALL, "accept_redirects"] = "0" if _is_on(value) else "1"

    def compute_effective_values_by_interface(
        self, reported_families_and_settings: Iterable[tuple[str, str]]
    ) -> dict[str, str]:
        """Return what holds on each interface, for the settings that somebody wrote: (family, setting)."""
        return {
            f"net.{family}.conf {setting} on {name}": self._compute_effective_value(family, name, setting)
            for family, setting in sorted(set(reported_families_and_settings))
            if (family, ALL, setting) in self.values
            for name in (*self.interfaces, LATER)
        }

    def _compute_effective_value(self, family: str, interface: str, setting: str) -> str:
        of_all = self.values[family, ALL, setting]
        conf = DEFAULT if interface == LATER else interface
        own = self.values[family, conf, setting]
        if family == "ipv6":
            routes = _is_on(self.values[family, conf, "forwarding"])
            off = routes and (setting == "accept_redirects" or (setting == "accept_ra" and own != "2"))
            return "0" if off else own
        if setting == "accept_redirects":
            join = all if _is_on(self.values[family, conf, "forwarding"]) else any
            return str(int(join(map(_is_on, (of_all, own)))))
        if setting == "rp_filter":
            return max(of_all, own)
        if setting in _BOTH:
            return str(int(_BOTH[setting](map(_is_on, (of_all, own)))))
        return own


def list_written_network_families_and_settings(loaded_sysctls: LoadedSysctls) -> set[tuple[str, str]]:
    """Return family and setting of each network setting that the files name."""
    kernel = KernelNetwork(list_interfaces(key for key, _ in loaded_sysctls.writes))
    places = (place for key, _ in loaded_sysctls.writes for place in kernel.find_places(key))
    return {(family, setting) for family, _, setting in places}


def list_interfaces(keys: Iterable[str]) -> set[str]:
    """Return the interfaces that the keys name in full."""
    parts = (swap_dots_and_slashes(key).split("/") for key in keys)
    names = {part[3] for part in parts if len(part) == 5 and part[0] == "net" and part[2] == "conf"}
    return {name for name in names - {ALL, DEFAULT} if not any(mark in name for mark in "*?[")}


def load_writes(loaded: LoadedSysctls, start: KernelNetwork) -> KernelNetwork:
    """Return the settings after the files were loaded onto a copy of `start`. Patterns spare what a line states."""
    made = start.copy()
    for key, value in loaded.writes:
        made.write(key, value, () if key in loaded.stated else {*loaded.stated, *loaded.passed_over})
    return made


def read_known_values(kernel: KernelNetwork, keys: Iterable[str]) -> dict[str, str]:
    """Return the value in force of each of the keys that this model knows."""
    found = {key: kernel.find_places(key) for key in keys}
    return {key: kernel.values[places[0]] for key, places in found.items() if places}


def _is_on(value: str) -> bool:
    return value.lstrip("-").strip("0") != ""
