"""A host's files as one look finds them: what was asked once is answered alike, however often the look comes back."""

from functools import cache

from app.syntax.files import Files


class Glance:
    def __init__(self, files: Files) -> None:
        self.read = cache(files.read)
        self.state = cache(files.state)
        self.glob = cache(files.glob)
