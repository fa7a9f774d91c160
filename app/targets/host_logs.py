"""The newest lines of a host's logs. Attackers can choose their words: treat them as hostile text."""

from app.syntax import host_text
from app.syntax.files import Files
from app.text.clean import clean_text

_LOGS = {
    "secure": "/var/log/secure",
    "messages": "/var/log/messages",
    "audit": "/var/log/audit/audit.log",
}
_LONGEST = 300


def read_log_lines(files: Files, limit: int) -> list[str]:
    """Return up to `limit` lines, oldest first within each log. Short logs leave their share to the others."""
    logs = {name: _split_lines(host_text.read_text(files, path)) for name, path in _LOGS.items()}
    room, shown = limit, []
    for left, (name, lines) in zip((3, 2, 1), sorted(logs.items(), key=lambda log: len(log[1])), strict=True):
        newest = lines[len(lines) - min(len(lines), room // left) :]
        room -= len(newest)
        shown += [f"{name}: {clean_text(line, _LONGEST)}" for line in newest]
    return shown


def _split_lines(text: str | None) -> list[str]:
    return [line for line in (text or "").split("\n") if line.strip()]
