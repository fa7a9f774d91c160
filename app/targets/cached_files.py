"""Files with cached reads: each path is read at most once."""

from collections.abc import Callable
from functools import cache

from app.syntax.files import Files
from app.targets.questions.boot import LinkedFiles


class CachedFiles:
    link: Callable[[str], str | None]
    """Present only if the wrapped files know links: callers check with hasattr."""

    def __init__(self, files: Files) -> None:
        self.read = cache(files.read)
        self.state = cache(files.state)
        self.glob = cache(files.glob)
        if isinstance(files, LinkedFiles):
            self.link = cache(files.link)
