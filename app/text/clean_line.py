"""Clean text for one line of a terminal or log: no line breaks, no cursor movement."""

from app.text.clean import clean_text


def clean_line(text: str, limit: int) -> str:
    return " ".join(clean_text(text, limit).split())
