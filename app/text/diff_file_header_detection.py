"""The lines of a unified diff that name a file, told from lines of a file that look like them."""

from collections.abc import Iterable, Iterator


def mark_file_headers(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Yield each line, and True if it names a file. In a hunk, a file's own line may begin with --- or +++."""
    in_hunk = False
    for line in lines:
        if line.startswith(("@@", "diff ")):
            in_hunk = line.startswith("@@")
        yield line, not in_hunk and line.startswith(("+++ ", "--- "))
