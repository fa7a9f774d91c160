"""The Jinja environment of all templates: strict about undefined names, and autoescaping."""

import hashlib
from contextlib import suppress
from pathlib import Path

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket


def create_environment(folder: Path) -> Environment:
    return Environment(
        loader=FileSystemLoader(folder),
        bytecode_cache=TemplateBytecodeCache(folder),
        undefined=StrictUndefined,
        autoescape=True,
        auto_reload=False,  # otherwise the disk is checked for each part of a page, at the rate of a stream
        trim_blocks=True,
        lstrip_blocks=True,
        optimized=False,  # compiled templates are kept on disk, so no filter may be evaluated at compile time
    )


class TemplateBytecodeCache(FileSystemBytecodeCache):
    """Compiled templates, cached next to their sources: compiling dominates the first request of a page."""

    def __init__(self, folder: Path) -> None:
        settings = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
        super().__init__(str(folder / "__pycache__"), f"%s.{settings}")

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):  # the folder is read-only: each process compiles for itself
            Path(self.directory).mkdir(exist_ok=True)
            super().dump_bytecode(bucket)
