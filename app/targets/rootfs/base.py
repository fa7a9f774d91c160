"""What a disposable machine is made from: a Debian with sshd and OpenSCAP, built once for each list of packages."""

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
    "linux-base",  # content takes a machine without it for an image, and most rules for not applicable
)
OFFERS = ("libpam-pwquality", "cracklib-runtime", "systemd")
"""Not installed, and at hand with all that they need: packages that a run may install without a network."""
_NEXT = {"bullseye": "bookworm", "bookworm": "trixie"}
"""Debian's content for a release comes with the release after it."""
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
class Base:
    suite: str = "bookworm"
    packages: tuple[str, ...] = PACKAGES
    mirror: str = MIRROR
    offers: tuple[str, ...] = OFFERS

    @property
    def name(self) -> str:
        """The same ingredients are the same base."""
        digest = hashlib.sha256(
            "\0".join([self.mirror, self.suite, *self.packages, "", *self.offers, *self._pins()]).encode()
        )
        return f"{self.suite}-{digest.hexdigest()[:12]}"

    def command(self, archive: str) -> list[str]:
        """mmdebstrap's. Root builds as root; anybody else in a namespace."""
        mode = "root" if os.geteuid() == 0 else "unshare"
        lean = [f"--dpkgopt=path-exclude=/usr/share/{part}/*" for part in ("doc", "man", "scap-security-guide")]
        sources = [f"deb {self.mirror} {suite} main" for suite in self._suites()]
        hook = f"--setup-hook=printf '{self._pins()}' > \"$1/etc/apt/preferences.d/content\"" if self._pins() else ""
        offers = f"--customize-hook={_OFFERED.format(' '.join(self.offers))}"
        return [
            *("mmdebstrap", "--quiet", f"--mode={mode}", "--variant=minbase", "--format=tar"),
            *(f"--include={','.join(self.packages)}", *lean, *([hook] if hook else [])),
            *([offers] if self.offers else []),
            *(self.suite, archive, *sources),
        ]

    def _suites(self) -> list[str]:
        return [self.suite, *filter(None, [_NEXT.get(self.suite)])]

    def _pins(self) -> str:
        """Of the release after it, the content and nothing else."""
        later = _NEXT.get(self.suite)
        if later is None:
            return ""
        blocks = (("*", 1), ("ssg-debian", 990))
        return r"\n".join(rf"Package: {what}\nPin: release n={later}\nPin-Priority: {to}\n" for what, to in blocks)
