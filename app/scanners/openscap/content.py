"""The data streams of this machine, by name: never by path, so that who asks over the network reads no file of ours."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.errors import BadInput

OWN = Path("~/.local/share/xml/scap")
FOLDERS = (OWN, Path("/usr/local/share/xml/scap"), Path("/usr/share/xml/scap/ssg/content"))
"""The first two are for what Debian does not carry, DISA's own for instance. The first that has a name wins."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}")
_ENDING = "-ds.xml"


@dataclass(frozen=True)
class Content:
    """What is asked of a host: a data stream of this machine, and one profile of it."""

    datastream: Path
    profile: str
    """In full."""


def datastreams(folders: Sequence[Path] = FOLDERS) -> dict[str, Path]:
    """Name without the ending, to file."""
    found = (file for folder in reversed(folders) for file in sorted(folder.expanduser().glob(f"*{_ENDING}")))
    return {file.name.removesuffix(_ENDING): file for file in found}


def add(file: Path, folder: Path = OWN) -> str:
    """A copy of a data stream among this machine's, under the name that is returned. It has been read: it is one."""
    if not file.name.endswith(_ENDING) or not _NAME.fullmatch(file.name):
        raise BadInput(
            f"{file.name[:80]!a} is no name for a data stream: rename it to NAME{_ENDING}, of plain letters."
        )
    folder.expanduser().mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, folder.expanduser() / file.name)
    return file.name.removesuffix(_ENDING)


def datastream(name: str, folders: Sequence[Path] = FOLDERS) -> Path:
    there = datastreams(folders)
    plain = name.removesuffix(".xml").removesuffix("-ds")
    if not _NAME.fullmatch(name) or plain not in there:
        choice = f"here are: {', '.join(there)}" if there else "here is none: apt-get install ssg-debian brings some"
        places = " or ".join(map(str, folders))
        raise BadInput(f"There is no data stream {name[:80]!a} in {places}; {choice}.")
    return there[plain]
