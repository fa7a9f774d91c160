"""The base image of a disposable machine: Debian with sshd and OpenSCAP, built once per package list."""

import hashlib
import os
from dataclasses import dataclass

MIRROR = "http://deb.debian.org/debian"
PACKAGES = (
    "openssh-server",
    "sudo",
    "rsyslog",
    "openscap-scanner",
    "ssg-debian",
    "linux-base",  # without it, content treats the machine as an image and skips most rules
)
OFFERS = ("libpam-pwquality", "cracklib-runtime", "systemd")
"""Packages that a run can install without a network; not installed at first."""
_NEXT = {"bullseye": "bookworm", "bookworm": "trixie"}
"""Debian ships the content for a release with the next release."""
_OFFERED = r"""chroot "$1" sh -eu -c '
mkdir -p /srv/offers/partial
cd /srv/offers
apt-get -q -y install --download-only -o Dir::Cache::archives=/srv/offers -o APT::Sandbox::User=root {}
for deb in *.deb; do
  dpkg-deb -f "$deb"
  printf "Filename: ./%s\\nSize: %s\\nSHA256: %s\\n\\n" "$deb" "$(stat -c %s "$deb")" \
    "$(sha256sum "$deb" | cut -d " " -f 1)"
done >Packages
rm -rf partial lock
echo "deb [trusted=yes] file:/srv/offers ./" >/etc/apt/sources.list.d/offers.list
'"""


@dataclass(frozen=True)
class BaseImage:
    suite: str = "bookworm"
    packages: tuple[str, ...] = PACKAGES
    mirror: str = MIRROR
    offers: tuple[str, ...] = OFFERS

    @property
    def name(self) -> str:
        """A name derived from the ingredients."""
        digest = hashlib.sha256(
            "\0".join([self.mirror, self.suite, *self.packages, "", *self.offers, *self._format_pins()]).encode()
        )
        return f"{self.suite}-{digest.hexdigest()[:12]}"

    def build_command(self, archive: str) -> list[str]:
        """Return the mmdebstrap command; a namespace is used unless we are root."""
        mode = "root" if os.geteuid() == 0 else "unshare"
        lean = [f"--dpkgopt=path-exclude=/usr/share/{part}/*" for part in ("doc", "man", "scap-security-guide")]
        sources = [f"deb {self.mirror} {suite} main" for suite in self._list_suites()]
        hook = (
            f"--setup-hook=printf '{self._format_pins()}' > \"$1/etc/apt/preferences.d/content\""
            if self._format_pins()
            else ""
        )
        offers = f"--customize-hook={_OFFERED.format(' '.join(self.offers))}"
        return [
            *("mmdebstrap", "--quiet", f"--mode={mode}", "--variant=minbase", "--format=tar"),
            *(f"--include={','.join(self.packages)}", *lean, *([hook] if hook else [])),
            *([offers] if self.offers else []),
            *(self.suite, archive, *sources),
        ]

    def _list_suites(self) -> list[str]:
        return [self.suite, *filter(None, [_NEXT.get(self.suite)])]

    def _format_pins(self) -> str:
        """Return apt pins that take only the content from the next release."""
        later = _NEXT.get(self.suite)
        if later is None:
            return ""
        blocks = (("*", 1), ("ssg-debian", 990))
        return r"\n".join(rf"Package: {what}\nPin: release n={later}\nPin-Priority: {to}\n" for what, to in blocks)
