"""Writes a line that a text or a command states into the files of a host in which it counts."""

import re

from app.candidates.scratch_files_to_actions import ScratchFiles
from app.skills.stated_settings import BOOT_ENTRIES, NEW_KERNELS, StatedLine
from app.syntax import host_text
from app.syntax.host_files_protocol import Files
from app.targets.subjects.stated_setting_file_families import Family

_BOOTS_BY_ENTRIES = re.compile(r"^GRUB_ENABLE_BLSCFG=([\"']?)true\1[ \t]*$", re.MULTILINE)


def place_stated_line(stated: StatedLine, family: Family, scratch: ScratchFiles) -> bool:
    """Write the line into each file in which it counts; return True if that changes one."""
    paths = _list_boot_files(stated.path, scratch.now) if stated.path in (BOOT_ENTRIES, NEW_KERNELS) else [stated.path]
    texts = {path: family.place_line(scratch.read_text(path) or "", stated.section, stated.line) for path in paths}
    changed = [scratch.write_text(path, text) for path, text in texts.items()]
    return any(changed)


def _list_boot_files(pattern: str, files: Files) -> list[str]:
    """Return the files of this host; none where it boots by menus made from /etc/default/grub."""
    menus = host_text.read_text(files, "/etc/default/grub") or ""
    return files.glob(pattern) if _BOOTS_BY_ENTRIES.search(menus) else []
