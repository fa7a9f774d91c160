"""Reads overlapping drop-in folders: files by base name, where the first folder overrides the others."""

from collections.abc import Mapping

from app.syntax import host_text
from app.syntax.files import Files

DEBIAN = "/etc/debian_version"

_PID_MAX = "kernel.pid_max = 4194304\n"
_SYSTEMD_MODULES = "options bonding max_bonds=0\noptions dummy numdummies=0\noptions ifb numifbs=0\n"
_FRAMEBUFFERS = (
    "arkfb aty128fb atyfb radeonfb cirrusfb cyber2000fb kyrofb matroxfb_base mb862xxfb neofb pm2fb pm3fb s3fb savagefb"
    " sisfb tdfxfb tridentfb vt8623fb"
)

_SYSCTL_DEBIAN = {
    "50-pid-max.conf": _PID_MAX,
    "99-protect-links.conf": (
        "fs.protected_fifos = 1\nfs.protected_hardlinks = 1\nfs.protected_regular = 2\nfs.protected_symlinks = 1\n"
    ),
}
_SYSCTL_REDHAT = {
    "10-default-yama-scope.conf": "kernel.yama.ptrace_scope = 0\n",
    "50-coredump.conf": (
        "kernel.core_pattern=|/usr/lib/systemd/systemd-coredump %P %u %g %s %t %c %h\nkernel.core_pipe_limit=16\n"
        "fs.suid_dumpable=2\n"
    ),
    "50-default.conf": (
        "kernel.sysrq = 16\nkernel.core_uses_pid = 1\nnet.ipv4.conf.default.rp_filter = 2\n"
        "net.ipv4.conf.*.rp_filter = 2\n-net.ipv4.conf.all.rp_filter\nnet.ipv4.conf.default.accept_source_route = 0\n"
        "net.ipv4.conf.*.accept_source_route = 0\n-net.ipv4.conf.all.accept_source_route\n"
        "net.ipv4.conf.default.promote_secondaries = 1\nnet.ipv4.conf.*.promote_secondaries = 1\n"
        "-net.ipv4.conf.all.promote_secondaries\n-net.ipv4.ping_group_range = 0 2147483647\n"
        "-net.core.default_qdisc = fq_codel\nfs.protected_hardlinks = 1\nfs.protected_symlinks = 1\n"
        "fs.protected_regular = 1\nfs.protected_fifos = 1\n"
    ),
    "50-libkcapi-optmem_max.conf": "net.core.optmem_max = 81920\n",
    "50-pid-max.conf": _PID_MAX,
    "50-redhat.conf": (
        "kernel.kptr_restrict = 1\nnet.ipv4.conf.default.rp_filter = 1\nnet.ipv4.conf.*.rp_filter = 1\n"
        "-net.ipv4.conf.all.rp_filter\n"
    ),
}
_MODPROBE_DEBIAN = {
    "fbdev-blacklist.conf": "".join(f"blacklist {name}\n" for name in _FRAMEBUFFERS.split()),
    "systemd.conf": _SYSTEMD_MODULES,
}
_MODPROBE_REDHAT = {"systemd.conf": _SYSTEMD_MODULES}

_SHIPPED = {
    ("sysctl.d", True): _SYSCTL_DEBIAN,
    ("sysctl.d", False): _SYSCTL_REDHAT,
    ("modprobe.d", True): _MODPROBE_DEBIAN,
    ("modprobe.d", False): _MODPROBE_REDHAT,
}


def is_debian(files: Files) -> bool:
    return files.state(DEBIAN) is not None


def get_shipped_files(name: str, files: Files) -> Mapping[str, str]:
    return _SHIPPED[name, is_debian(files)]


_OURS = ("/etc", "/run", "/usr/local/lib")
_VENDORS = ("/usr/lib", "/lib")
NAMES = ("sysctl.d", "modprobe.d")

VENDOR = (DEBIAN, *(f"{folder}/{name}/*.conf" for name in NAMES for folder in (*_OURS[1:], *_VENDORS)))
"""Read-only, but the effect of a change in /etc depends on them."""


def read_drop_ins(name: str, files: Files, *, hidden: bool = False) -> list[str]:
    """Return the drop-in texts in reading order; the distribution's known files if no vendor folder is visible.

    With `hidden`, names that start with a dot are included, as some programs do.
    """
    patterns = ("*.conf", ".*.conf") if hidden else ("*.conf",)
    seen = any(files.glob(f"{folder}/{name}/*.conf") for folder in _VENDORS)
    found = {} if seen else dict(get_shipped_files(name, files))
    for folder in (*_VENDORS[::-1], *_OURS[::-1]):
        for pattern in patterns:
            for path in host_text.glob_files(files, f"{folder}/{name}/{pattern}"):
                found[path.rpartition("/")[2]] = host_text.read_text(files, path) or ""
    return [found[name] for name in sorted(found)]
