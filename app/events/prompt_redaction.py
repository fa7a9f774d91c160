"""Hides prompts, which describe a host, from people below the right `operator`."""

import hashlib

import msgspec

_KIND = b'"kind":"turn.started"'
_READ = msgspec.json.Decoder(dict[str, msgspec.Raw])
_PROMPT = msgspec.json.Decoder(tuple[str, ...])


def redact_prompt(line: bytes) -> bytes:
    """Return the event line with its prompt redacted; lines without a prompt are unchanged."""
    if _KIND not in line:
        return line
    fields = _READ.decode(line)
    if bytes(fields["kind"]) != b'"turn.started"' or "prompt" not in fields:
        return line
    summaries = tuple(map(summarize_prompt, _PROMPT.decode(fields["prompt"])))
    return msgspec.json.encode(fields | {"prompt": msgspec.Raw(msgspec.json.encode(summaries))})


def summarize_prompt(prompt: str) -> str:
    """Return length and digest of a prompt, enough to compare it with the evidence."""
    digest = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()
    return f"(for operators: {len(prompt)} characters, sha256 {digest})"
