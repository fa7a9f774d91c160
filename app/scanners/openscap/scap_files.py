"""Data streams on this machine, addressed by name only: a remote caller can read no other file."""

import re
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.errors import BadInput
from app.scanners.openscap.safe_xml import MOST, find_benchmark, get_local_name, parse_xml

OWN = Path("~/.local/share/xml/scap")
_NEXT_RELEASE = (
    " Debian has the content for a release in the next release's package: unpack ssg-debian of that release with"
    " dpkg-deb -x, and add the file with temper scap add."
)
FOLDERS = (OWN, Path("/usr/local/share/xml/scap"), Path("/usr/share/xml/scap/ssg/content"))
"""The first two hold content that Debian does not ship, such as DISA's. The first match wins."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}")
_ENDING, _XCCDF = "-ds.xml", "-xccdf.xml"
ADDED = FOLDERS[:2]
_INSIDE = re.compile(r"(?:^|/)([\w.-]+(?:-xccdf|-ds|_Benchmark)\.xml)$", re.ASCII)
"""The benchmark file inside a DISA zip."""


@dataclass(frozen=True)
class ScapContent:
    datastream: Path
    profile: str
    """The full id."""
    tailoring: bytes = b""
    """The tailoring file that defines the profile, if the data stream does not."""


def map_names_to_datastreams(folders: Sequence[Path] = FOLDERS) -> dict[str, Path]:
    """Return data streams by name, without the file ending."""
    return map_names_to_files(_ENDING, folders)


def map_names_to_files(ending: str, folders: Sequence[Path]) -> dict[str, Path]:
    """Return the files by name, without their ending; a folder overrides those after it."""
    found = (file for folder in reversed(folders) for file in sorted(folder.expanduser().glob(f"*{ending}")))
    return {file.name.removesuffix(ending): file for file in found}


def list_benchmarks(folders: Sequence[Path] = ADDED) -> list[Path]:
    """Return added data streams and XCCDF files; they name the rules."""
    return [file for file in map_names_to_files(".xml", folders).values() if file.name.endswith((_ENDING, _XCCDF))]


def list_manuals() -> list[Path]:
    """Return added XCCDF files, such as DISA's manual STIGs: they have texts, and no checks for OpenSCAP."""
    return [file for file in list_benchmarks() if file.name.endswith(_XCCDF)]


def add_benchmark(file: Path, folder: Path = OWN) -> Path:
    """Copy a data stream, XCCDF file or DISA zip to `folder`; return the copy. Raise BadInput if it is no benchmark."""
    name, content = _read_file_name_and_bytes(file)
    root = parse_xml(content, name)
    if find_benchmark(root) is None:
        raise BadInput(f"{name} has no benchmark: choose a data stream or the XCCDF of a STIG.")
    ending = _XCCDF if get_local_name(root) == "Benchmark" else _ENDING
    folder.expanduser().mkdir(parents=True, exist_ok=True)
    plain = name.removesuffix(".xml").removesuffix("-xccdf").removesuffix("-ds")
    kept = folder.expanduser() / f"{plain}{ending}"
    kept.write_bytes(content)
    return kept


def _read_file_name_and_bytes(file: Path) -> tuple[str, bytes]:
    if not _NAME.fullmatch(file.name) or file.suffix.lower() not in (".xml", ".zip"):
        raise BadInput(
            f"{file.name[:80]!a} is not a valid file name: rename it to NAME.xml or NAME.zip, with plain letters."
        )
    try:
        return _read_zip(file) if file.suffix.lower() == ".zip" else (file.name, file.read_bytes())
    except OSError as exc:
        raise BadInput(f"{file} cannot be read: {exc.strerror or exc}.") from exc


def _read_zip(file: Path) -> tuple[str, bytes]:
    try:
        with zipfile.ZipFile(file) as opened:
            inside = [one for one in opened.infolist() if _INSIDE.search(one.filename)]
            if len(inside) != 1:
                raise BadInput(f"{file.name} holds {len(inside)} benchmarks: unpack it, and add the one that you want.")
            with opened.open(inside[0]) as one:
                content = one.read(MOST + 1)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error) as exc:
        raise BadInput(f"{file.name} cannot be unpacked: {exc}. Unpack it, and add the XML file inside.") from exc
    name = inside[0].filename.rpartition("/")[2]
    if not _NAME.fullmatch(name):
        raise BadInput(
            f"{name[:80]!a} in {file.name} is not a valid name: unpack the file, and rename it with plain letters."
        )
    return name, content


def require_datastream(name: str, folders: Sequence[Path] = FOLDERS) -> Path:
    there = map_names_to_datastreams(folders)
    plain = name.removesuffix(".xml").removesuffix("-ds")
    if not _NAME.fullmatch(name) or plain not in there:
        choice = f"the data streams are: {', '.join(there)}" if there else "apt-get install ssg-debian adds some"
        places = " or ".join(map(str, folders))
        newer = _NEXT_RELEASE if plain.startswith("ssg-debian") else ""
        raise BadInput(f"There is no data stream {name[:80]!a} in {places}; {choice}.{newer}")
    return there[plain]
