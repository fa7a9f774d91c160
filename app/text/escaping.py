"""The one way in which templates are read: strict about undefined names, and escaping everything."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def escaping(folder: Path) -> Environment:
    loader = FileSystemLoader(folder)
    return Environment(
        loader=loader,
        undefined=StrictUndefined,
        autoescape=True,
        auto_reload=False,  # or the disk is asked before each part of a page, at the rate of a stream
        trim_blocks=True,
        lstrip_blocks=True,
    )
