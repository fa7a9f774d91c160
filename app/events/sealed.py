"""A prompt holds what roles were told of a host, and is for operators: others see that there was one, and no more."""

import hashlib

import msgspec

_KIND = b'"kind":"turn.started"'
_READ = msgspec.json.Decoder(dict[str, msgspec.Raw])
_PROMPT = msgspec.json.Decoder(tuple[str, ...])


def sealed(line: bytes) -> bytes:
    """The line of an event for eyes below an operator's. Of any but a turn's start, it is the line itself."""
    if _KIND not in line:
        return line
    fields = _READ.decode(line)
    if bytes(fields["kind"]) != b'"turn.started"' or "prompt" not in fields:
        return line
    told = tuple(map(outline, _PROMPT.decode(fields["prompt"])))
    return msgspec.json.encode(fields | {"prompt": msgspec.Raw(msgspec.json.encode(told))})


def outline(prompt: str) -> str:
    """What anybody may know of it, and enough to hold it against the evidence."""
    told = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()
    return f"(for operators: {len(prompt)} characters, sha256 {told})"
