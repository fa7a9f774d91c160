"""A host's files as one look finds them: what was asked once is answered alike, however often the look comes back."""

from collections.abc import Callable
from functools import cache

from app.syntax.files import Files
from app.targets.questions.boot import Linked


class Glance:
    link: Callable[[str], str | None]
    """Only where the files know links: whoever needs them asks whether it is there."""

    def __init__(self, files: Files) -> None:
        self.read = cache(files.read)
        self.state = cache(files.state)
        self.glob = cache(files.glob)
        if isinstance(files, Linked):
            self.link = cache(files.link)
