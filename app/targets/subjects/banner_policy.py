"""The policy for login banners: any plain text, since no program executes it."""

from app.targets.subjects.file_edit_given_to_judges import FileEdit, Objection
from app.text.clean import clean_text

_LONGEST = 8192


def judge_invisible_characters_in_banner(edit: FileEdit) -> Objection | None:
    text = "\n".join(edit.added)
    if clean_text(text, _LONGEST) != text:
        return Objection("obfuscation", f"{edit.path}: the text has invisible characters.")
    return None
