"""Parser of server-sent events without I/O: bytes in, payloads of data lines out."""

from collections.abc import Iterator

from app.errors import EngineDied

LINE_LIMIT = 4 * 1024 * 1024


class SseDataParser:
    """Split lines at \\n only: an engine's JSON contains U+2028 and U+0085 unescaped."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        *ends, rest = data.split(b"\n")
        for piece in ends:
            self._append_piece(piece)
            line = b"".join(self._pieces)
            self._pieces, self._size = [], 0
            if line.startswith(b"data:"):
                yield line[5:].strip()
        self._append_piece(rest)

    def _append_piece(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > LINE_LIMIT:
            raise EngineDied(
                f"The engine sent a line of more than {LINE_LIMIT >> 20} MB, which no answer needs: "
                "check that base_url is a vLLM server."
            )
        self._pieces.append(piece)
