"""Clean text for one line of a terminal or log: no line breaks, no cursor movement."""

from app.text.clean import clean


def clean_line(text: str, limit: int) -> str:
    return " ".join(clean(text, limit).split())
