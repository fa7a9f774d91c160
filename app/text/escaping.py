"""The one way in which templates are read: strict about undefined names, and escaping everything."""

import hashlib
from contextlib import suppress
from pathlib import Path

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket


def escaping(folder: Path) -> Environment:
    return Environment(
        loader=FileSystemLoader(folder),
        bytecode_cache=Compiled(folder),
        undefined=StrictUndefined,
        autoescape=True,
        auto_reload=False,  # or the disk is asked before each part of a page, at the rate of a stream
        trim_blocks=True,
        lstrip_blocks=True,
        optimized=False,  # what is compiled is kept, so nothing that a filter says may be reckoned beforehand
    )


class Compiled(FileSystemBytecodeCache):
    """Kept beside the templates, as Python keeps its own: a page's first answer would spend most of its time on it."""

    def __init__(self, folder: Path) -> None:
        settings = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
        super().__init__(str(folder / "__pycache__"), f"%s.{settings}")

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):  # not ours to write to: then each process compiles for itself
            Path(self.directory).mkdir(exist_ok=True)
            super().dump_bytecode(bucket)
