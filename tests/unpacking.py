"""Archives of our own, unpacked with all modes and owners, by any Python: extract(filter=) is newer than 3.11.2."""

import tarfile
from pathlib import Path


def unpack_whole(archive: Path, into: Path) -> None:
    with tarfile.open(archive) as opened:
        opened.extraction_filter = lambda member, _into: member
        opened.extractall(into)
