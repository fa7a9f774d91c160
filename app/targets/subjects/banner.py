"""The policy for login banners: any plain text, since no program executes it."""

from app.targets.subjects.edit import Edit, Objection
from app.text.clean import clean

_LONGEST = 8192


def judge(edit: Edit) -> Objection | None:
    text = "\n".join(edit.added)
    if clean(text, _LONGEST) != text:
        return Objection("obfuscation", f"{edit.path}: the text holds characters that nobody can see.")
    return None
