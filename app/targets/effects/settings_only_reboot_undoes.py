"""Settings that the kernel keeps until its next boot: a rollback restores the files and not the kernel."""

from collections.abc import Collection
from functools import partial

from app.syntax.host_files_protocol import Files
from app.syntax.sysctl import normalize_number
from app.targets.effects.weakened_setting_search import iterate_setting_changes, read_cached_settings
from app.targets.read_tracking_cache import ReadTrackingCache

_KERNEL = {
    "kernel.kexec_load_disabled": "1",
    "kernel.modules_disabled": "1",
    "kernel.unprivileged_bpf_disabled": "1",
    "kernel.yama.ptrace_scope": "3",
}
_VALUES = {"audit": {"-e": "2", "--loginuid-immutable": "yes"}, "systemd-sysctl": _KERNEL, "sysctl": _KERNEL}
"""By program, the value of each setting that it cannot take back."""


def find_one_way_settings(
    paths: Collection[str], before: Files, after: Files, read_cache: ReadTrackingCache
) -> tuple[str, ...]:
    """Return the settings that a change takes to a value which only a reboot ends, such as "audit -e 2"."""
    read = partial(read_cached_settings, read_cache=read_cache)
    found = (
        f"{one.daemon.name} {setting} {last}"
        for one in iterate_setting_changes(paths, before, after, read)
        if (last := _VALUES.get(one.daemon.name, {}).get(setting := one.key.partition(" ")[0]))
        and normalize_number(one.now) == last
    )
    return tuple(dict.fromkeys(found))
