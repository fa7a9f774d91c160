"""Kernel settings as systemd-sysctl and as `sysctl --system` load them; neither result may get weaker."""

import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from app.syntax import host_text, sysctl
from app.syntax.files import Files
from app.syntax.sysctl import LoadedSysctls
from app.targets.effects import drop_ins, network_sysctl_writes
from app.targets.effects.daemon_base import Ask, Daemon, Query
from app.targets.effects.strictness_comparison import (
    Compare,
    Strength,
    compare_caps,
    compare_higher,
    compare_lower,
    create_ranked_comparison,
    parse_number,
)

MAIN = "/etc/sysctl.conf"

_OFF_ON, _ON_OFF = create_ranked_comparison("0", "1"), create_ranked_comparison("1", "0")
_UP_TO_2 = create_ranked_comparison("0", "1", "2")


def _compare_sysrq(was: str, now: str) -> Strength:
    """Compare which magic keys work: 0 is none, 1 is all, any other number a set of bits."""
    if was == now:
        return Strength.EQUAL
    old, new = (parse_number(value) for value in (was, now))
    if old is None or new is None:
        return Strength.INCOMPARABLE
    if new == 0 or old == 1:
        return Strength.STRONGER
    return Strength.STRONGER if new != 1 and new & old == new else Strength.WEAKER


def _compare_solicitations(was: str, now: str) -> Strength:
    """Compare how often a host asks for routers: -1 is without end."""
    return (
        Strength.WEAKER if now == "-1" and was != now else Strength.STRONGER if was == "-1" else compare_lower(was, now)
    )


@dataclass(frozen=True)
class KnownKey:
    compare: Compare
    default: str
    """The kernel's default."""
    debian: str = ""
    """The default of Debian's kernel if it differs."""


def _define_conf_keys(
    family: str, setting: str, compare: Compare, kernel_value_of_all: str, kernel_value_of_default: str
) -> dict[str, KnownKey]:
    base = f"net.{family}.conf"
    return {
        f"{base}.all.{setting}": KnownKey(compare, kernel_value_of_all),
        f"{base}.default.{setting}": KnownKey(compare, kernel_value_of_default),
    }


KNOWN: Mapping[str, KnownKey] = {
    "kernel.dmesg_restrict": KnownKey(_OFF_ON, "0", "1"),
    "kernel.kptr_restrict": KnownKey(_UP_TO_2, "0"),
    "kernel.yama.ptrace_scope": KnownKey(create_ranked_comparison("0", "1", "2", "3"), "1", "0"),
    "kernel.randomize_va_space": KnownKey(_UP_TO_2, "2"),
    "kernel.perf_event_paranoid": KnownKey(create_ranked_comparison("-1", "0", "1", "2", "3", "4"), "2", "3"),
    "kernel.kexec_load_disabled": KnownKey(_OFF_ON, "0"),
    # root can reset 2; 1 holds until the next boot.
    "kernel.unprivileged_bpf_disabled": KnownKey(create_ranked_comparison("0", "2", "1"), "2"),
    "kernel.core_pattern": KnownKey(create_ranked_comparison("core", "|/bin/false"), "core"),
    "kernel.panic_on_oops": KnownKey(_OFF_ON, "0"),
    "kernel.sysrq": KnownKey(_compare_sysrq, "1", "438"),
    "kernel.perf_cpu_time_max_percent": KnownKey(compare_caps, "25"),
    "kernel.perf_event_max_sample_rate": KnownKey(compare_lower, "100000"),
    "vm.mmap_min_addr": KnownKey(compare_higher, "65536"),
    "dev.tty.ldisc_autoload": KnownKey(_ON_OFF, "1"),
    "fs.protected_hardlinks": KnownKey(_OFF_ON, "0", "1"),
    "fs.protected_symlinks": KnownKey(_OFF_ON, "0", "1"),
    "fs.protected_fifos": KnownKey(_UP_TO_2, "0"),
    "fs.protected_regular": KnownKey(_UP_TO_2, "0"),
    "fs.suid_dumpable": KnownKey(create_ranked_comparison("1", "2", "0"), "0"),
    "net.core.bpf_jit_harden": KnownKey(_UP_TO_2, "0"),
    "net.ipv4.ip_forward": KnownKey(_ON_OFF, "0"),
    "net.ipv4.icmp_echo_ignore_broadcasts": KnownKey(_OFF_ON, "1"),
    "net.ipv4.icmp_ignore_bogus_error_responses": KnownKey(_OFF_ON, "1"),
    "net.ipv4.tcp_syncookies": KnownKey(_OFF_ON, "1"),
    "net.ipv4.tcp_rfc1337": KnownKey(_OFF_ON, "0"),
    **_define_conf_keys("ipv4", "accept_local", _ON_OFF, "0", "0"),
    **_define_conf_keys("ipv4", "route_localnet", _ON_OFF, "0", "0"),
    **_define_conf_keys("ipv4", "arp_filter", _OFF_ON, "0", "0"),
    **_define_conf_keys("ipv4", "arp_ignore", _UP_TO_2, "0", "0"),
    **_define_conf_keys("ipv4", "drop_gratuitous_arp", _OFF_ON, "0", "0"),
    **_define_conf_keys("ipv4", "shared_media", _ON_OFF, "1", "1"),
    **_define_conf_keys("ipv4", "proxy_arp", _ON_OFF, "0", "0"),
    **_define_conf_keys("ipv4", "accept_redirects", _ON_OFF, "1", "1"),
    **_define_conf_keys("ipv4", "secure_redirects", _ON_OFF, "1", "1"),
    **_define_conf_keys("ipv4", "send_redirects", _ON_OFF, "1", "1"),
    **_define_conf_keys("ipv4", "accept_source_route", _ON_OFF, "0", "1"),
    **_define_conf_keys("ipv4", "forwarding", _ON_OFF, "0", "0"),
    # 2 accepts a packet if any route leads back, 1 only the best one.
    **_define_conf_keys("ipv4", "rp_filter", create_ranked_comparison("0", "2", "1"), "0", "0"),
    **_define_conf_keys("ipv4", "log_martians", _OFF_ON, "0", "0"),
    **_define_conf_keys("ipv6", "accept_redirects", _ON_OFF, "1", "1"),
    **_define_conf_keys("ipv6", "accept_source_route", create_ranked_comparison("1", "0", "-1"), "0", "0"),
    **_define_conf_keys("ipv6", "accept_ra", create_ranked_comparison("2", "1", "0"), "1", "1"),
    **_define_conf_keys("ipv6", "accept_ra_defrtr", _ON_OFF, "1", "1"),
    **_define_conf_keys("ipv6", "accept_ra_pinfo", _ON_OFF, "1", "1"),
    **_define_conf_keys("ipv6", "accept_ra_rtr_pref", _ON_OFF, "1", "1"),
    **_define_conf_keys("ipv6", "autoconf", _ON_OFF, "1", "1"),
    **_define_conf_keys("ipv6", "max_addresses", compare_caps, "16", "16"),
    **_define_conf_keys("ipv6", "router_solicitations", _compare_solicitations, "-1", "-1"),
    **_define_conf_keys("ipv6", "forwarding", _ON_OFF, "0", "0"),
}


_AGAIN = " when loaded again"


class _Sysctl(Daemon):
    """A loader of kernel settings: at boot, and once more on the kernel as the files before the change left it."""

    areas = ("/etc/sysctl",)
    asked_only_if_unranked = True
    scales: ClassVar[Mapping[str, Compare]] = {key: known.compare for key, known in KNOWN.items()}
    paired = True

    def __init__(self, before: Files | None = None, after: Files | None = None) -> None:
        self._sides = (before, after)

    def with_both_sides(self, before: Files, after: Files) -> Daemon:
        return type(self)(before, after)

    @abstractmethod
    def load_files(self, files: Files) -> LoadedSysctls:
        """Load the files as this program does."""

    def read_settings(self, files: Files) -> Mapping[str, str]:
        return self._evaluate(self.load_files(files), files)

    def _evaluate(self, loaded: LoadedSysctls, files: Files) -> Mapping[str, str]:
        """Return the settings in force. What a coupling changes counts for what the files before the change set."""
        found = evaluate_sysctl(loaded, debian=drop_ins.is_debian(files))
        before, after = (self.load_files(side) if side else loaded for side in self._sides)
        names = network_sysctl_writes.list_interfaces(key for side in (before, after) for key, _ in side.writes)
        boot = network_sysctl_writes.KernelNetwork(names)
        written = network_sysctl_writes.list_written_network_settings(before)
        keys = [key for key in KNOWN if before.get_value(key) is not None]
        for start, mark in ((boot, ""), (network_sysctl_writes.load_writes(before, boot), _AGAIN)):
            kernel = network_sysctl_writes.load_writes(loaded, start)
            found |= {
                f"{key}{mark}": value for key, value in network_sysctl_writes.read_known_values(kernel, keys).items()
            }
            found |= {f"{key}{mark}": value for key, value in kernel.compute_effects(written).items()}
        return found

    def compare_values(self, key: str, was: str, now: str) -> Strength:
        if key == "kernel.core_pattern" and now == "|/bin/false":
            return Strength.STRONGER
        plain = _IN_FORCE.sub(r"\1.default.\2", key.removesuffix(_AGAIN))
        return super().compare_values(plain, was, now)


_IN_FORCE = re.compile(r"(net\.ipv[46]\.conf) ([a-z_]+) on .+")


class SystemdSysctl(_Sysctl):
    """systemd-sysctl reads the folders only; sysctl.conf counts if a link there names it."""

    name = "systemd-sysctl"

    def load_files(self, files: Files) -> LoadedSysctls:
        return sysctl.load_as_systemd(drop_ins.read_drop_ins("sysctl.d", files))

    def ask_settings(self, files: Files, ask: Ask) -> Mapping[str, str] | None:
        """Return settings from the files that systemd-sysctl lists; how it parses a line is ours."""
        outcome = ask(files, Query("/lib/systemd/systemd-sysctl", ("--cat-config",), ("/etc/sysctl.d/*.conf",)))
        if outcome is None or outcome.code != 0:
            return None
        return self._evaluate(sysctl.load_as_systemd([outcome.output]), files)


class ProcpsSysctl(_Sysctl):
    """`sysctl --system` of procps reads the folders, then sysctl.conf. Not asked: it would change the kernel."""

    name = "sysctl"

    def load_files(self, files: Files) -> LoadedSysctls:
        texts = [
            *drop_ins.read_drop_ins("sysctl.d", files, include_hidden=True),
            host_text.read_text(files, MAIN) or "",
        ]
        return sysctl.load_as_procps(texts)


def evaluate_sysctl(loaded: LoadedSysctls, *, debian: bool) -> dict[str, str]:
    found = {**dict(loaded.patterns), **loaded.stated}
    for key, known in KNOWN.items():
        value = loaded.get_value(key)
        found[key] = ((debian and known.debian) or known.default) if value is None else sysctl.normalize_number(value)
    return found
