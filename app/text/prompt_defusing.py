"""Make hostile text inert for prompts: no marks of ours, no control tokens of an engine, no headings.

An engine reads a prompt as one text, so a control token in a log line works like one from the chat template. Such
tokens keep their letters and lose their bracket.
"""

import re

from app.text.clean import clean_text

OPEN, SHUT = "<<<HOST", "HOST>>>"
_MARK_OPENS = re.compile(r"<{2,}(?=\s{0,8}HOST)", re.IGNORECASE)
_MARK_SHUTS = re.compile(r"(?<=HOST)(\s{0,8})>{2,}", re.IGNORECASE)
_NAMED = (
    "start_of_turn|end_of_turn|start_of_image|end_of_image|image_soft_token|bos|eos|pad|unk|mask|unused[0-9]{1,4}"
    "|s|think|thinking|tool_call|tool_response|function_call|sys|system|user|assistant|model"
)
_TOKEN = re.compile(
    rf"<(?=\|[^<>\n]{{0,64}}>|[^<>|\n]{{1,64}}\|>|/?(?:{_NAMED})>|<?/?SYS>>)|\[(?=/?INST\])", re.IGNORECASE
)
_HEADING = 200


def neutralize_markup(text: str) -> str:
    text = _MARK_SHUTS.sub(r"\1›", _MARK_OPENS.sub("‹", text))
    return _TOKEN.sub(lambda match: "‹" if match[0] == "<" else "⟦", text)


def to_one_line(text: str) -> str:
    """Return the text as one line, so that it cannot begin a line of its own in a prompt."""
    return " ".join(text.split())


def clean_heading(text: str) -> str:
    """Return a file name as a safe heading: hosts choose their file names."""
    return neutralize_markup(clean_text(to_one_line(text), _HEADING))
