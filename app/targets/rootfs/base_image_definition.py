"""The base image of a disposable machine: Debian with sshd and OpenSCAP, built once per package list."""

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.errors import EnvironmentUnusable

MIRROR_VARIABLE = "TEMPER_DEBIAN_MIRROR"
_APT = Path("/etc/apt")
PACKAGES = (
    "openssh-server",
    "sudo",
    "rsyslog",
    "openscap-scanner",
    "ssg-debian",
    "linux-base",  # without it, content treats the machine as an image and skips most rules
)
OFFERS = (
    *("libpam-pwquality", "cracklib-runtime", "systemd", "aide", "apparmor", "libpam-apparmor", "auditd", "chrony"),
    *("logrotate", "rsyslog-gnutls"),
)
"""Packages that a run can install without a network; not installed at first."""
_NEXT = {"bullseye": "bookworm", "bookworm": "trixie"}
"""Debian ships the content for a release with the next release."""
_ONE_LINE = re.compile(r"deb\s+(?:\[[^\]]*\]\s+)?(?P<address>\S+)\s+(?P<suite>\S+)\s+(?P<components>[^#]*)")
_FIELD = re.compile(r"^([A-Za-z-]+):((?:.*)(?:\n[ \t]+.*)*)", re.MULTILINE)
_OFFERED = Path(__file__).with_name("offers.sh").read_text().rstrip()
"""With the packages in place of {}."""


def require_configured_mirror(suite: str, apt: Path = _APT) -> str:
    """Return the mirror of a Debian suite: from the environment, or one that apt uses on this machine.

    A mirror of Debian has all its releases, so one of another release is the second choice. Raise EnvironmentUnusable
    if none is named.
    """
    if given := os.environ.get(MIRROR_VARIABLE, ""):
        return given.rstrip("/")
    listed = list(_iterate_package_source_addresses_and_suites(apt))
    for wanted in (suite, *_NEXT, *_NEXT.values()):
        for address, suites in listed:
            if wanted in suites:
                return address.rstrip("/")
    raise EnvironmentUnusable(
        f"There is no known mirror of Debian {suite}: {apt} names none. "
        f"Set {MIRROR_VARIABLE} to the address of one, as it stands after deb in a sources.list."
    )


def _iterate_package_source_addresses_and_suites(apt: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the address and the suites of each enabled source of packages in the component main."""
    folder = apt / "sources.list.d"
    for file in (apt / "sources.list", *sorted(folder.glob("*.list"))):
        for line in file.read_text().splitlines() if file.is_file() else ():
            found = _ONE_LINE.match(line)
            if found and "main" in found["components"].split():
                yield found["address"], [found["suite"]]
    for file in sorted(folder.glob("*.sources")):
        text = "\n".join(line for line in file.read_text().splitlines() if not line.startswith("#"))
        for stanza in re.split(r"\n\s*\n", text):
            fields = {name.lower(): value.split() for name, value in _FIELD.findall(stanza)}
            enabled = fields.get("enabled", ["yes"]) != ["no"]
            if enabled and "deb" in fields.get("types", ()) and "main" in fields.get("components", ()):
                for address in fields.get("uris", ()):
                    yield address, fields.get("suites", [])


@dataclass(frozen=True)
class BaseImage:
    suite: str = "bookworm"
    packages: tuple[str, ...] = PACKAGES
    mirror: str = ""
    """The address of Debian's packages; empty for the one that this machine names."""
    offers: tuple[str, ...] = OFFERS
    hooks: tuple[str, ...] = ()
    """More options of mmdebstrap, for what must lie in the image before its packages are set up."""

    @property
    def name(self) -> str:
        parts = [
            self._get_mirror(),
            self.suite,
            *self.packages,
            "",
            *self.offers,
            *self._format_apt_pins_to_next_distribution(),
            *self.hooks,
        ]
        return f"{self.suite}-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:12]}"

    def build_command(self, archive: str) -> list[str]:
        """Return the mmdebstrap command; a namespace is used unless we are root."""
        mode = "root" if os.geteuid() == 0 else "unshare"
        lean = [f"--dpkgopt=path-exclude=/usr/share/{part}/*" for part in ("doc", "man", "scap-security-guide")]
        suites = (self.suite, *filter(None, [_NEXT.get(self.suite)]))
        sources = [f"deb {self._get_mirror()} {suite} main" for suite in suites]
        pins = self._format_apt_pins_to_next_distribution()
        hook = [f"--setup-hook=printf '{pins}' > \"$1/etc/apt/preferences.d/content\""] if pins else []
        offers = f"--customize-hook={_OFFERED.format(' '.join(self.offers))}"
        return [
            *("mmdebstrap", "--quiet", f"--mode={mode}", "--variant=minbase", "--format=tar"),
            *(f"--include={','.join(self.packages)}", *lean, *hook),
            *([offers] if self.offers else []),
            *self.hooks,
            *(self.suite, archive, *sources),
        ]

    def _get_mirror(self) -> str:
        return self.mirror or require_configured_mirror(self.suite)

    def _format_apt_pins_to_next_distribution(self) -> str:
        """Return apt pins that take only the content from the next release."""
        later = _NEXT.get(self.suite)
        if later is None:
            return ""
        content = " ".join(one for one in self.packages if one.startswith("ssg-")) or "ssg-debian"
        blocks = (("*", 1), (content, 990))
        return r"\n".join(rf"Package: {what}\nPin: release n={later}\nPin-Priority: {to}\n" for what, to in blocks)
