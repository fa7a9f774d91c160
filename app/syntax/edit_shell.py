"""Set a variable in a profile script: every assignment of it gets the new value."""

from app.errors import BadInput
from app.syntax import edit_lines
from app.syntax.shell_assignments import is_plain_word, parse_assignments


def get_variable(text: str, key: str) -> str | None:
    value = None
    for found in parse_assignments(text, ""):
        if found.name == key and (found.surely or found.unset):
            value = None if found.unset else found.value
    return value


def put_variable(text: str, key: str, value: str) -> str:
    if not is_plain_word(value) or not key.isidentifier() or not key.isascii():
        raise BadInput("a script takes a plain name and a plain word as value; write anything else with write_file")
    given = [a for a in parse_assignments(text, "") if a.name == key and not a.unset]
    for found in reversed(given):
        text = text[: found.start] + value + text[found.end :]
    if not any(found.surely for found in given):
        return edit_lines.put_line(text, f"{key}={value}", None, (), edit_lines.find_end(text))
    return text
