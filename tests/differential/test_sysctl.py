"""Our reading of sysctl.d against systemd-sysctl's and procps's, on generated trees of overlapping folders."""

import re
from random import Random

import pytest

from app.syntax import host_text, sysctl
from app.targets.effects import drop_ins
from app.targets.effects.sysctl import MAIN
from tests.differential.harness import tally
from tests.differential.wall import differing, host, laid_out, said
from tests.thorough import examples

FOLDERS = ("/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d")
NAMES = ("10-a", "50-b", "50-B", "9-c", "99-d", "A", ".hidden", "z~", "60.x")
KEYS = (
    "net.ipv4.conf.all.rp_filter",
    "net.ipv4.conf.default.rp_filter",
    "net/ipv4/conf/all/accept_redirects",
    "net.ipv4.conf.default.accept_redirects",
    "net.ipv4.ip_forward",
    "net/ipv4/tcp_syncookies",
    "net.ipv6.conf.all.accept_ra",
    "net.ipv4.conf.*.rp_filter",
    "net/ipv4/conf/*/accept_redirects",
    "net.ipv4.conf.[ad]*.log_martians",
    "net.ipv4.conf.all.log_martians",
    "net.ipv4.conf.lo/1.rp_filter",
)
WRITTEN = re.compile(r"Setting '/proc/sys/(.*)' to '(.*)'")
_PRINTED = re.compile(r"(net\.[^ ]+) = (.*)")


TAKEN = ("0", "1", "2", " 1 ", "0x1", "01")
"""By the kernel: procps prints nothing else."""
ANY = (*TAKEN, "1 # c", "2;", "", "1=2")


def line(random: Random, values: tuple[str, ...] = ANY) -> str:
    key = random.choice(KEYS)
    value = random.choice(values)
    between = random.choice(("=", " = ", "\t=\t", " =", "= "))
    return random.choice(
        (
            *([f"{key}{between}{value}"] * 8),
            f"  {key}{between}{value}  ",
            f"-{key}{between}{value}",
            f"-{key}",
            f"# {key}{between}{value}",
            f";{key}{between}{value}",
            key,
            f"{key} {value}",
            "",
            f"{key}{between}{value}\r",
            f"/{key.replace('.', '/')}{between}{value}",
        )
    )


def tree(random: Random, values: tuple[str, ...] = ANY) -> tuple[dict[str, str], dict[str, str]]:
    found = {}
    for folder in FOLDERS:
        for name in random.sample(NAMES, random.randrange(4)):
            end = random.choice((".conf", ".conf", ".conf", ".conf", ".conf.bak", ""))
            text = "\n".join(line(random, values) for _ in range(random.randrange(5)))
            found[f"{folder}/{name}{end}"] = text + random.choice(("", "\n"))
    vendor = {"/usr/lib/sysctl.d/00-none.conf": "", **{p: t for p, t in found.items() if p.startswith(FOLDERS[3])}}
    return {path: text for path, text in found.items() if path not in vendor}, vendor


def against_systemd(random: Random) -> list[str]:
    texts, vendor = tree(random)
    with laid_out(texts, vendor) as wall:
        _code, output = said(
            [*wall, "/lib/systemd/systemd-sysctl"], SYSTEMD_LOG_LEVEL="debug", SYSTEMD_LOG_TARGET="console"
        )
    written = {match[1]: match[2] for match in map(WRITTEN.fullmatch, output.split("\n")) if match}
    ours = sysctl.load_as_systemd(drop_ins.read_drop_in_texts("sysctl.d", host({**texts, **vendor})))
    names = {name.translate(str.maketrans("/.", "./")) for name in written} | ours.stated.keys() | set(_KERNELS)
    return differing(
        {**texts, **vendor},
        {name: ours.find_value(name) for name in names if "lo." not in name or name in ours.stated},
        {
            name: written.get(name.translate(str.maketrans("./", "/.")))
            for name in names
            if "lo." not in name or name in ours.stated
        },
    )


_KERNELS = tuple(
    f"net.ipv4.conf.{which}.{setting}"
    for which in ("all", "default")
    for setting in ("rp_filter", "accept_redirects", "log_martians")
)


def against_procps(random: Random) -> list[str]:
    texts, vendor = tree(random, TAKEN)
    if random.random() < 0.7:
        texts[MAIN] = "\n".join(line(random, TAKEN) for _ in range(random.randrange(4))) + "\n"
    with laid_out(texts, vendor) as wall:
        _code, output = said([*wall, "/sbin/sysctl", "--system", "--dry-run"])
    printed = {match[1]: match[2] for match in map(_PRINTED.fullmatch, output.split("\n")) if match}
    files = host({**texts, **vendor})
    ours = sysctl.load_as_procps(
        [*drop_ins.read_drop_in_texts("sysctl.d", files, include_hidden=True), host_text.read_text(files, MAIN) or ""]
    )
    return differing(
        {**texts, **vendor},
        {name: ours.find_value(name) for name in _KERNELS if ours.find_value(name)},
        {name: printed[name] for name in _KERNELS if printed.get(name)},
    )


TRIALS = {"at boot": against_systemd, "by hand": against_procps}


@pytest.mark.parametrize("name", TRIALS)
def test_our_reading_is_theirs(name):
    assert tally(TRIALS[name], examples(50)).differences == ()
