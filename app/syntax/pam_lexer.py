"""The lexical rules of PAM service files as in libpam: joined lines, words and controls."""

import re
from collections.abc import Iterator, Mapping

from app.syntax.host_text import skip_letters, split_blank_separated_names

BUFFER = 1024
"""libpam's buffer: a longer line is read in pieces, each as a line."""
CODES = split_blank_separated_names("""
    success open_err symbol_err service_err system_err buf_err perm_denied auth_err cred_insufficient
    authinfo_unavail user_unknown maxtries new_authtok_reqd acct_expired session_err cred_unavail
    cred_expired cred_err no_module_data conv_err authtok_err authtok_recover_err authtok_lock_busy
    authtok_disable_aging try_again ignore abort authtok_expired module_unknown bad_item conv_again
    incomplete
""")
_ACTIONS = ("ignore", "ok", "done", "bad", "die", "reset")
_WORDS: dict[str, Mapping[str, str]] = {
    "required": {"success": "ok", "new_authtok_reqd": "ok", "ignore": "ignore", "default": "bad"},
    "requisite": {"success": "ok", "new_authtok_reqd": "ok", "ignore": "ignore", "default": "die"},
    "sufficient": {"success": "done", "new_authtok_reqd": "done", "default": "ignore"},
    "optional": {"success": "ok", "new_authtok_reqd": "ok", "default": "ignore"},
}
_BLANKS = " \n\t"
_SPACES = " \t\n\r\f\v"
_NUMBER = re.compile(r"[0-9]+")
_WORD = re.compile(r"\[((?:\\\]|[^\]])*)\]?|[^ \n\t]+")


class UnfinishedPamFile(Exception):
    """libpam gives the file up: its last line continues, or a joined line exceeds the buffer."""


def join_pam_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield logical lines with their first line number. A # ends a rule and hides a backslash after it."""
    held, start, at, number = "", 0, 0, 1
    while at < len(text):
        room = BUFFER - len(held) - 1
        if room < 1:
            raise UnfinishedPamFile
        end = text.find("\n", at, at + room)
        piece = text[at : end + 1] if end >= 0 else text[at : at + room]
        at += len(piece)
        start = start if held else number
        number += piece.count("\n")
        seen = piece.partition("\0")[0]
        body = seen.lstrip(_BLANKS)
        blanks = seen[: len(seen) - len(body)]
        if not body or body.startswith("#"):
            continue
        code, mark, _ = body.partition("#")
        whole = code.rstrip(_BLANKS)
        if not mark and whole.endswith("\\"):
            held += f"{blanks}{whole[:-1]} "
            continue
        yield start, f"{held}{blanks}{code}"
        held = ""
    if held:
        raise UnfinishedPamFile


def split_pam_words(line: str) -> list[str]:
    """Split a line at blanks; a word that starts with [ ends at the next ] or at the end of the line."""
    return [word[0] if word[1] is None else word[1].replace("\\]", "]") for word in _WORD.finditer(line)]


def parse_actions(control: str) -> Mapping[str, str] | None:
    """Return the action for each module result, with `default` for the others; None for an invalid control."""
    word = _WORDS.get(control.lower() if control.isascii() else control)
    return _parse_text_between_brackets(control) if word is None else word


def _parse_text_between_brackets(text_between_brackets: str) -> Mapping[str, str] | None:
    found: dict[str, str] = {}
    at = 0
    while True:
        at = skip_letters(text_between_brackets, at, _SPACES)
        if at == len(text_between_brackets):
            return {**found, "default": found.get("default", "bad")}
        code = next((code for code in (*CODES, "default") if text_between_brackets.startswith(code, at)), None)
        at = skip_letters(text_between_brackets, at + len(code or ""), _SPACES)
        if code is None or text_between_brackets[at : at + 1] != "=":
            return None
        at = skip_letters(text_between_brackets, at + 1, _SPACES)
        action = next((word for word in _ACTIONS if text_between_brackets.startswith(word, at)), None)
        number = _NUMBER.match(text_between_brackets, at)
        action = action or (number[0] if number and int(number[0]) else None)
        if action is None:
            return None
        at += len(action)
        if code != "default" or "default" not in found:  # a second default has no effect
            found[code] = action.lstrip("0") or action
