"""Kernel settings as systemd-sysctl and as `sysctl --system` load them; neither result may get weaker."""

import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import msgspec

from app.syntax import host_text, sysctl
from app.syntax.host_files_protocol import Files
from app.syntax.sysctl import LoadedSysctls
from app.targets.effects import drop_ins, kernel_network_model
from app.targets.effects import strictness_comparison as strictness
from app.targets.effects.daemon_base import Ask, Daemon, Query
from app.targets.effects.strictness_comparison import Compare, Strength

MAIN = "/etc/sysctl.conf"


def _compare_sysrq(was: str, now: str) -> Strength:
    """Compare which magic keys work: 0 is none, 1 is all, any other number a set of bits."""
    if was == now:
        return Strength.EQUAL
    old, new = (strictness.parse_decimal_integer(value) for value in (was, now))
    if old is None or new is None:
        return Strength.INCOMPARABLE
    if new == 0 or old == 1:
        return Strength.STRONGER
    return Strength.STRONGER if new != 1 and new & old == new else Strength.WEAKER


def _compare_solicitations(was: str, now: str) -> Strength:
    """Compare how often a host asks for routers: -1 is without end."""
    if was == "-1":
        return Strength.STRONGER
    return Strength.WEAKER if now == "-1" else strictness.compare_lower(was, now)


@dataclass(frozen=True)
class KnownKey:
    default: str
    debian: str = ""
    rising: str = ""
    compares: str = ""

    def create_comparison(self) -> Compare:
        return _COMPARES[self.compares] if self.compares else strictness.create_ranked_comparison(*self.rising.split())


_COMPARES: Mapping[str, Compare] = {
    "caps": strictness.compare_caps,
    "higher": strictness.compare_higher,
    "lower": strictness.compare_lower,
    "sysrq": _compare_sysrq,
    "solicitations": _compare_solicitations,
}
_TABLE = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, KnownKey])
KNOWN = {key.replace("*", place): known for key, known in _TABLE.items() for place in ("all", "default")}


_AGAIN = " when loaded again"


class _Sysctl(Daemon):
    """A loader of kernel settings: at boot, and once more on the kernel as the files before the change left it."""

    areas = ("/etc/sysctl",)
    asked_only_if_unranked = True
    scales: ClassVar[Mapping[str, Compare]] = {key: known.create_comparison() for key, known in KNOWN.items()}
    paired = True

    def __init__(self, before: Files | None = None, after: Files | None = None) -> None:
        self._sides = (before, after)

    def create_settings_reader_for_change(self, before: Files, after: Files) -> Daemon:
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
        names = kernel_network_model.list_interfaces(key for side in (before, after) for key, _ in side.writes)
        boot = kernel_network_model.KernelNetwork(names)
        written = kernel_network_model.list_written_network_families_and_settings(before)
        keys = [key for key in KNOWN if before.find_value(key) is not None]
        for start, mark in ((boot, ""), (kernel_network_model.load_writes(before, boot), _AGAIN)):
            kernel = kernel_network_model.load_writes(loaded, start)
            values = kernel_network_model.read_known_values(
                kernel, keys
            ) | kernel.compute_effective_values_by_interface(written)
            found |= {f"{key}{mark}": value for key, value in values.items()}
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
        return sysctl.load_as_systemd(drop_ins.read_drop_in_texts("sysctl.d", files))

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
        texts = drop_ins.read_drop_in_texts("sysctl.d", files, include_hidden=True)
        return sysctl.load_as_procps([*texts, host_text.read_text(files, MAIN) or ""])


def evaluate_sysctl(loaded: LoadedSysctls, *, debian: bool) -> dict[str, str]:
    found = {**dict(loaded.patterns), **loaded.stated}
    for key, known in KNOWN.items():
        value = loaded.find_value(key)
        found[key] = ((debian and known.debian) or known.default) if value is None else sysctl.normalize_number(value)
    return found
