"""One line for a terminal or a log: nothing in it can begin another, or move the eye elsewhere."""

from app.text.clean import clean


def clean_line(text: str, limit: int) -> str:
    return " ".join(clean(text, limit).split())
