"""Read the new lines or the last lines of a log file that another process writes."""

from pathlib import Path

_CHUNK = 1024 * 1024
_END_BYTES = 16_384


class LogTail:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._at = 0
        self._rest = b""

    def read_new_lines(self, *, ended: bool = False) -> list[str]:
        """Return the next new lines of a bounded chunk. `ended`: a last line may lack its newline."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._at)
                data = file.read(_CHUNK)
        except OSError:
            return []
        self._at += len(data)
        if ended and not data and self._rest:
            data = b"\n"
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [line.decode("utf-8", "replace") for line in lines]


def read_last_lines(path: Path, number: int) -> list[str]:
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _END_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    # A progress bar overwrites its line: keep its newest state only.
    return [line.rsplit("\r", 1)[-1] for line in text.splitlines()[-number:]]
