"""Tokenizer for Bourne shell scripts: enough to find assignments, not to execute them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_OPERATOR = re.compile(r"&&|\|\||;;&?|;&|[;&|()\n]")
_HEREDOC = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|\\?([A-Za-z0-9_.]+))")
_DEPTH = 40
_REDIRECT = re.compile(r"[0-9]*(?:>>|>\||<<<|<>|[<>]&?|&>>?)[ \t]*")


@dataclass(frozen=True)
class Token:
    text: str
    operator: bool
    start: int
    end: int


def iterate_words_and_operators(text: str) -> Iterator[Token]:
    at = depth = 0  # the depth of brackets from `((` on, where `<<` is a shift and no here-document
    pending: list[tuple[str, bool]] = []
    while at < len(text):
        if text[at] in " \t":
            at += 1
        elif text.startswith("\\\n", at):
            at += 2
        elif text[at] == "#":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif depth == 0 and (heredoc := _HEREDOC.match(text, at)):
            mark = next(m for m in heredoc.groups()[1:] if m is not None)
            pending.append((mark, bool(heredoc[1])))
            at = heredoc.end()
        elif redirect := _REDIRECT.match(text, at):
            at = _get_word_end(text, redirect.end())
        elif operator := _OPERATOR.match(text, at):
            yield Token(operator[0], True, at, operator.end())
            if operator[0] == "(" and (depth or text.startswith("((", at)):
                depth += 1
            elif operator[0] == ")" and depth:
                depth -= 1
            at = operator.end()
            if operator[0] == "\n":
                at = _skip_heredocs(text, at, pending)
        else:
            end = _get_word_end(text, at)
            yield Token(text[at:end], False, at, end)
            at = end


def iterate_quoted_and_heredoc_texts(text: str) -> Iterator[str]:
    """Yield what a script quotes and its here-documents: the data of its commands, without commands and flags."""
    before: Token | None = None
    for token in iterate_words_and_operators(text):
        document = text[before.end : token.start] if before and before.text == "\n" else ""
        yield from (document,) if "\n" in document else ()
        yield from () if token.operator else _list_quoted_parts(token.text)
        before = token


def _list_quoted_parts(word: str) -> Iterator[str]:
    at = 0
    while at < len(word):
        end = min(_skip_letter(word, at), len(word))
        if word[at] == "'":
            yield word[at + 1 : end].removesuffix("'")
        elif word[at] == '"':
            yield _drop_command_substitutions(word[at + 1 : end].removesuffix('"'))
        at = end


def _drop_command_substitutions(quoted: str) -> str:
    kept, at = list[str](), 0
    while at < len(quoted):
        end = at + 1 if quoted[at] in "'\"" else _skip_letter(quoted, at)
        kept.append("" if quoted[at] == "`" or quoted.startswith("$(", at) else quoted[at:end])
        at = end
    return "".join(kept)


def _skip_heredocs(text: str, at: int, pending: list[tuple[str, bool]]) -> int:
    for mark, tabs in pending:
        while at < len(text):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            line, at = text[at:end], end + 1
            if (line.lstrip("\t") if tabs else line) == mark:
                break
    pending.clear()
    return at


def _get_word_end(text: str, at: int) -> int:
    while at < len(text) and text[at] not in " \t\n;&|()<>":
        at = _skip_letter(text, at)
    return at


def _skip_letter(text: str, at: int, depth: int = 0) -> int:
    """Return the position after one letter, or after a quoted or expanded part."""
    letter = text[at]
    if letter == "\\":
        return at + 2
    if letter == "'":
        end = text.find("'", at + 1)
        return len(text) if end < 0 else end + 1
    if depth > _DEPTH:
        return at + 1
    if letter in '"`':
        return _skip_enclosed(text, at + 1, letter, depth + 1)
    if text.startswith("$(", at):
        return _skip_enclosed(text, at + 2, ")", depth + 1)
    if text.startswith("${", at):
        return _skip_enclosed(text, at + 2, "}", depth + 1)
    return at + 1


def _skip_enclosed(text: str, content_start: int, closing_mark: str, depth: int) -> int:
    while content_start < len(text) and text[content_start] != closing_mark:
        if closing_mark == '"' and text[content_start] == "'":
            content_start += 1
        elif closing_mark == ")" and text[content_start] == "(" and depth <= _DEPTH:
            content_start = _skip_enclosed(text, content_start + 1, ")", depth + 1)
        else:
            content_start = _skip_letter(text, content_start, depth)
    return content_start + 1
