"""Words that are told but not obeyed: no mark of ours, no token of an engine's, no heading that was never given.

An engine reads a prompt as one text: a control token that stands in a log line is as good to it as one that the
chat template put there. So such words keep their letters and lose the bracket that makes them what they are.
"""

import re

from app.text.clean import clean

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


def inert(text: str) -> str:
    text = _MARK_SHUTS.sub(r"\1›", _MARK_OPENS.sub("‹", text))
    return _TOKEN.sub(lambda match: "‹" if match[0] == "<" else "⟦", text)


def one_line(text: str) -> str:
    """What a role said is told back as a line of ours: it may not begin one of its own."""
    return " ".join(text.split())


def heading(text: str) -> str:
    """A file's name is the host's, too."""
    return inert(clean(one_line(text), _HEADING))
