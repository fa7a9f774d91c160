"""What DISA's benchmark says of the stand-in for RHEL 9, by families of rules, and which checks are real there.

    temper scan HOST --content U_RHEL_9_V2R9_STIG_SCAP_1-3_Benchmark --profile MAC-1_Public --json >verdicts.json
    python bench/disa/families.py verdicts.json

Prints a table in Markdown. A rule's family is the middle of its STIG id: RHEL-09-255045 is of 255. DISA's content has
to be added (temper scap add); nothing of it is printed but ids and counts.
"""

import json
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
from app.scanners.openscap.published_rules import read_published
from app.scanners.openscap.scap_files import require_datastream

CONTENT = "U_RHEL_9_V2R9_STIG_SCAP_1-3_Benchmark"
WORDS = ("fail", "pass", "notapplicable", "error", "unknown")


@dataclass(frozen=True)
class Family:
    about: str
    real: str
    """What the checks of this family really meet on the stand-in."""
    not_real: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Reasons why some checks are not real there, each with the ends of the STIG ids."""


FAMILIES = {
    "211": Family(
        "the system at large", "systemd's units and default target", (("the release is a text of ours", ("010",)),)
    ),
    "212": Family(
        "boot loader",
        "GRUB, and the arguments that the kernel got",
        (("GRUB of Debian asks no password of user.cfg", ("010",)),),
    ),
    "213": Family("the kernel", "the kernel's settings, modprobe, core dumps", (("kdump is not packaged", ("115",)),)),
    "214": Family("dnf and signatures", "dnf, rpm and a repository of signed packages"),
    "215": Family(
        "packages",
        "packages with the files of Debian's daemons",
        (
            (
                "a name without files: Debian has no such package, or it is not needed here",
                ("010", "015", "020", "025", "030", "040", "045", "050", "055", "065", "070", "075", "100", "101"),
            ),
        ),
    ),
    "231": Family(
        "file systems",
        "seven file systems, each on a disk of its own, and fstab",
        (("/boot is no file system of its own, and there is no EFI", ("095", "100", "105")),),
    ),
    "232": Family("modes and owners", "all files of the machine"),
    "251": Family("firewall", "firewalld, once installed; the network devices"),
    "252": Family(
        "network services",
        "chrony, the resolver's files",
        (("NetworkManager, Postfix and libreswan are not there", ("040", "050", "065")),),
    ),
    "253": Family("IPv4", "the kernel's settings"),
    "254": Family("IPv6", "the kernel's settings"),
    "255": Family("SSH", "sshd and the crypto policy that it includes"),
    "271": Family(
        "GNOME",
        "nothing: there is no desktop, and its files are judged as they lie",
        (
            (
                "no desktop",
                ("010", "015", "020", "025", "040", "045", "050", "060", "070", "080", "095", "100", "110", "115"),
            ),
        ),
    ),
    "291": Family("USB and Bluetooth", "usbguard, once installed; modprobe", (("there is no such device", ("035",)),)),
    "411": Family("accounts", "passwd, shadow, login.defs, useradd, faillock"),
    "412": Family("sessions", "logind, umask, limits, profiles", (("nobody here uses csh", ("060",)),)),
    "431": Family("SELinux", "SELinux with Debian's policy, under the name targeted"),
    "432": Family("sudo", "sudo, su and their files"),
    "433": Family("fapolicyd", "fapolicyd, once installed"),
    "611": Family(
        "passwords and PAM",
        "PAM: system-auth and password-auth, pwquality, shadow",
        (("libuser is not there, its file is", ("135",)), ("there is no smart card", ("160", "165", "170"))),
    ),
    "631": Family("SSSD and certificates", "nothing: SSSD is not installed", (("no SSSD", ("020",)),)),
    "651": Family("AIDE", "AIDE, once installed"),
    "652": Family("rsyslog", "rsyslog"),
    "653": Family("auditd", "auditd, its disk and its files"),
    "654": Family("audit rules", "the files that augenrules loads into the kernel"),
    "671": Family(
        "FIPS", "", (("Debian's kernel has no FIPS mode", ("010", "015", "025")), ("no libreswan", ("020",)))
    ),
    "672": Family(
        "crypto policies",
        "OpenSSH's back ends",
        (("the policy files are ours, and only OpenSSH reads them", ("020", "050")),),
    ),
}


def main() -> int:
    named = {one.group: one.stig_id for one in read_published(require_datastream(CONTENT).read_bytes(), CONTENT).rules}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    known: dict[str, set[str]] = defaultdict(set)
    for one in (one for file in sys.argv[1:] for one in json.loads(Path(file).read_text())):
        family, number = named[one["rule"]][8:11], named[one["rule"]][11:]
        counts[family][one["openscap"]] += 1
        known[family].add(number)
    print(f"| family | rules | {' | '.join(WORDS)} | real there | not real, and why |")
    print(f"|---|{'---|' * (len(WORDS) + 3)}")
    total: Counter[str] = Counter()
    for family in sorted(counts):
        total += counts[family]
        print(_format_row(family, counts[family], known[family]))
    print(f"| all | {total.total()} | {' | '.join(str(total[word]) for word in WORDS)} | | |")
    return 0


def _format_row(family: str, count: Counter[str], known: set[str]) -> str:
    about = FAMILIES.get(family, Family("other", ""))
    reasons = [(why, sorted(known & set(ends))) for why, ends in about.not_real]
    unreal = "; ".join(
        f"{len(ends)}: {why} ({', '.join(f'{family}{end}' for end in ends)})" for why, ends in reasons if ends
    )
    cells = " | ".join(str(count[word]) for word in WORDS)
    return f"| {family} {about.about} | {count.total()} | {cells} | {about.real} | {unreal} |"


if __name__ == "__main__":
    sys.exit(main())
